import { literal } from "../sql/fragment.ts";
import {
  askJson,
  askTruth,
  type Check,
  count,
  type Diagnosis,
  type Finding,
  listTenantTables,
  printTenants,
  type Setup,
  type TenantTable,
} from "./diagnosis.ts";

/** Every row should have a tenant. */
export const checkTenantRows: Check = { name: "rows without tenant", look: lookAtRows };

async function lookAtRows(setup: Setup): Promise<Diagnosis> {
  const tables = listTenantTables(setup);
  const nullable = await readNullable(setup);
  const findings: Finding[] = [];
  for (const table of tables.filter(({ name }) => nullable.includes(name))) {
    setup.progress(table.name);
    findings.push(describe(table, await hasOrphans(setup, table)));
  }
  return { seen: count(tables.length, "table"), findings };
}

function describe({ name, identifier, tenant }: TenantTable, orphans: boolean): Finding {
  const notNull = `alter table ${identifier} alter column ${tenant.identifier} set not null;`;
  return orphans
    ? {
      id: `null_tenant_rows:${name}`,
      level: "warning",
      what: `${name} has rows whose ${tenant.name} is NULL`,
      why: "no token reaches them, and a trigger or view may show them to any tenant",
      fix:
        `select * from ${identifier} where ${tenant.identifier} is null;    -- give them a tenant\n` +
        notNull,
    }
    : {
      id: `null_tenant:${name}`,
      level: "warning",
      what: `${name}.${tenant.name} may be NULL`,
      why: "a row can be written that no tenant can reach",
      fix: notNull,
    };
}

function hasOrphans({ database }: Setup, { identifier, tenant }: TenantTable): Promise<boolean> {
  return askTruth(database, (sql) =>
    sql`select exists (select from ${literal(sql, identifier)} "$t"
      where "$t".${literal(sql, tenant.identifier)} is null)::text as found`);
}

/** Reads which tables have a tenant column that is not declared NOT NULL; views are left out. */
function readNullable(setup: Setup): Promise<readonly string[]> {
  const [names, columns] = printTenants(listTenantTables(setup));
  const { database, config } = setup;
  return askJson(
    database,
    (sql) =>
      sql`select coalesce(pg_catalog.json_agg(c.relname), '[]')::text as found
      from unnest(${names}::text::text[], ${columns}::text::text[]) wanted (name, tenant)
      join pg_catalog.pg_namespace n on n.nspname = ${config.schema}::text
      join pg_catalog.pg_class c on c.relnamespace = n.oid and c.relname = wanted.name
        and c.relkind in ('r', 'p')
      join pg_catalog.pg_attribute a on a.attrelid = c.oid and a.attname = wanted.tenant
      where not a.attnotnull`,
  );
}

/** A table without an index that begins with its tenant column. */
interface Unindexed {
  readonly table: string;
  /** The planner's estimate of the number of rows; -1 where there is none. */
  readonly rows: number;
  readonly partitioned: boolean;
}

/** Every statement reads one tenant's rows: without an index it reads those of all tenants. */
export const checkTenantIndexes: Check = { name: "indexes by tenant", look: lookAtIndexes };

async function lookAtIndexes(setup: Setup): Promise<Diagnosis> {
  const tables = listTenantTables(setup);
  const unindexed = await readUnindexed(setup);
  const findings = unindexed.map(({ table: name, rows, partitioned }) => {
    const { identifier, tenant, keyOrder } = setup.catalogue.tables.get(name)!;
    const others = keyOrder.map(({ identifier }) => identifier)
      .filter((column) => column !== tenant!.identifier);
    const columns = [tenant!.identifier, ...others].join(", ");
    return {
      id: `tenant_index:${name}`,
      level: "warning" as const,
      what: `no index of ${name} begins with ${tenant!.name}`,
      why: `each request reads the rows of all tenants${
        rows > 0 ? `, about ${rows.toLocaleString("en")}` : ""
      }`,
      fix: `create index ${partitioned ? "" : "concurrently "}on ${identifier} (${columns});`,
    };
  });
  return { seen: count(tables.length, "table"), findings };
}

function readUnindexed(setup: Setup): Promise<readonly Unindexed[]> {
  const [names, columns] = printTenants(listTenantTables(setup));
  const { database, config } = setup;
  return askJson(
    database,
    (sql) =>
      sql`select coalesce(pg_catalog.json_agg(pg_catalog.json_build_object('table', c.relname,
        'rows', c.reltuples::int8, 'partitioned', c.relkind = 'p') order by c.relname), '[]')::text
        as found
      from unnest(${names}::text::text[], ${columns}::text::text[]) wanted (name, tenant)
      join pg_catalog.pg_namespace n on n.nspname = ${config.schema}::text
      join pg_catalog.pg_class c on c.relnamespace = n.oid and c.relname = wanted.name
        and c.relkind in ('r', 'p', 'm')
      join pg_catalog.pg_attribute a on a.attrelid = c.oid and a.attname = wanted.tenant
      where not exists (select from pg_catalog.pg_index i
        where i.indrelid = c.oid and i.indisvalid and i.indpred is null
          and i.indkey[0] = a.attnum)`,
  );
}
