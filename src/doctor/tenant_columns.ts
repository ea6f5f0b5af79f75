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

/** Every row must belong to somebody. */
export const checkTenantRows: Check = { name: "rows without tenant", look: lookAtRows };

async function lookAtRows(setup: Setup): Promise<Diagnosis> {
  const tables = listTenantTables(setup);
  const nullable = await readNullable(setup);
  const findings: Finding[] = [];
  for (const table of tables.filter(({ name }) => nullable.includes(name))) {
    setup.progress(table.name);
    findings.push(judge(table, await hasOrphans(setup, table)));
  }
  return { seen: count(tables.length, "table"), findings };
}

function judge({ name, identifier, tenant }: TenantTable, orphans: boolean): Finding {
  const notNull = `alter table ${identifier} alter column ${tenant.identifier} set not null;`;
  return orphans
    ? {
      level: "warning",
      what: `${name} has rows whose ${tenant.name} is NULL`,
      why: "no token reaches them, and a trigger or view may take them for anybody's",
      fix:
        `select * from ${identifier} where ${tenant.identifier} is null;    -- give them a tenant\n` +
        notNull,
    }
    : {
      level: "warning",
      what: `${name}.${tenant.name} may be NULL`,
      why: "a row that is written without a tenant belongs to nobody",
      fix: notNull,
    };
}

function hasOrphans({ database }: Setup, { identifier, tenant }: TenantTable): Promise<boolean> {
  return askTruth(database, (sql) =>
    sql`select exists (select from ${literal(sql, identifier)} "$t"
      where "$t".${literal(sql, tenant.identifier)} is null)::text as found`);
}

/** Tables whose tenant column is not declared NOT NULL; a view declares nothing. */
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

/** A table of tenants without an index that begins with the tenant column. */
interface Unindexed {
  readonly table: string;
  /** Rows by the planner's estimate; -1 where it has none. */
  readonly rows: number;
  readonly partitioned: boolean;
}

/** Every statement looks for one tenant: without an index it reads all tenants' rows. */
export const checkTenantIndexes: Check = { name: "indexes by tenant", look: lookAtIndexes };

async function lookAtIndexes(setup: Setup): Promise<Diagnosis> {
  const tables = listTenantTables(setup);
  const unindexed = await readUnindexed(setup);
  const findings = unindexed.map(({ table: name, rows, partitioned }) => {
    const { identifier, tenant, keyOrder } = setup.catalogue.tables.get(name)!;
    const others = keyOrder.filter((column) => column !== tenant!.identifier);
    const columns = [tenant!.identifier, ...others].join(", ");
    return {
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
