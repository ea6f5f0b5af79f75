import { quoteIdentifier } from "../../catalogue/quote_identifier.ts";
import {
  askJson,
  type Check,
  compileTables,
  count,
  type Diagnosis,
  type Finding,
  hasNulls,
  listTenantTables,
  type Setup,
  type TenantTable,
} from "./diagnosis.ts";
import { examineEach } from "./examine_each.ts";
import { checkTenantNames } from "./tenant_names.ts";

/** Every row should have a tenant that a token can name. */
export const checkTenantRows: Check = { name: "rows without tenant", examine: examineRows };

async function examineRows(setup: Setup): Promise<Diagnosis> {
  const tables = listTenantTables(setup);
  const findings = await examineEach(await readNullable(setup), {
    check: checkTenantRows.name,
    nameOf: ({ name }) => name,
    async examine({ name, columns }) {
      const table = tables.find((each) => each.name === name)!;
      setup.progress(name);
      const orphans = await hasNulls(setup, { identifier: table.identifier, columns });
      return [describe(table, { columns, orphans })];
    },
  });
  findings.push(...await checkTenantNames(setup, checkTenantRows.name));
  return { seen: count(tables.length, "table"), findings };
}

function describe(
  { name, identifier }: TenantTable,
  { columns, orphans }: { readonly columns: readonly string[]; readonly orphans: boolean },
): Finding {
  const quoted = columns.map(quoteIdentifier);
  const notNull = `alter table ${identifier} ${
    quoted.map((column) => `alter column ${column} set not null`).join(", ")
  };`;
  const isNull = quoted.map((column) => `${column} is null`).join(" or ");
  return orphans
    ? {
      id: `null_tenant_rows:${name}`,
      level: "warning",
      what: `${name} has rows whose ${columns.join(" or ")} is NULL`,
      why: "no token reaches them, and a trigger or view may show them to any tenant",
      fix: `select * from ${identifier} where ${isNull};    -- give them a tenant\n${notNull}`,
    }
    : {
      id: `null_tenant:${name}`,
      level: "warning",
      what: `${name}.${columns.join(", ")} may be NULL`,
      why: "a row can be written that no tenant can reach",
      fix: notNull,
    };
}

/** Tenant columns of a table that are not declared NOT NULL. */
interface Nullable {
  readonly name: string;
  readonly columns: readonly string[];
}

/** Reads which tables have such columns; views are left out. */
function readNullable(setup: Setup): Promise<readonly Nullable[]> {
  return askJson(
    setup.database,
    (sql) =>
      sql`select coalesce(pg_catalog.json_agg(pg_catalog.json_build_object(
        'name', wanted.name, 'columns', own.columns) order by wanted.name), '[]')::text as found
      from ${compileTables(sql, listTenantTables(setup))}
      join pg_catalog.pg_class c on c.oid = wanted.oid and c.relkind in ('r', 'p')
      cross join lateral (
        select pg_catalog.json_agg(a.attname order by t.place) as columns
        from pg_catalog.json_array_elements_text(wanted.tenants) with ordinality t (name, place)
        join pg_catalog.pg_attribute a on a.attrelid = c.oid and a.attname = t.name
        where not a.attnotnull
      ) own
      where own.columns is not null`,
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
export const checkTenantIndexes: Check = { name: "indexes by tenant", examine: examineIndexes };

async function examineIndexes(setup: Setup): Promise<Diagnosis> {
  const tables = listTenantTables(setup);
  const unindexed = await readUnindexed(setup);
  const findings = unindexed.map(({ table: name, rows, partitioned }) => {
    const { identifier, tenancy, keyOrder } = setup.catalogue.tables.get(name)!;
    const tenants = tenancy!.columns.map(({ identifier }) => identifier);
    const others = keyOrder.map(({ identifier }) => identifier)
      .filter((column) => !tenants.includes(column));
    const columns = [...tenants, ...others].join(", ");
    return {
      id: `tenant_index:${name}`,
      level: "warning" as const,
      what: `no index of ${name} begins with ${
        tenancy!.columns.map(({ name }) => name).join(", ")
      }`,
      why: `each request reads the rows of all tenants${
        rows > 0 ? `, about ${rows.toLocaleString("en")}` : ""
      }`,
      fix: `create index ${partitioned ? "" : "concurrently "}on ${identifier} (${columns});`,
    };
  });
  return { seen: count(tables.length, "table"), findings };
}

function readUnindexed(setup: Setup): Promise<readonly Unindexed[]> {
  return askJson(
    setup.database,
    (sql) =>
      sql`select coalesce(pg_catalog.json_agg(pg_catalog.json_build_object('table', wanted.name,
        'rows', c.reltuples::int8, 'partitioned', c.relkind = 'p') order by wanted.name), '[]')::text
        as found
      from ${compileTables(sql, listTenantTables(setup))}
      join pg_catalog.pg_class c on c.oid = wanted.oid and c.relkind in ('r', 'p', 'm')
      cross join lateral (
        select pg_catalog.array_agg(a.attnum order by a.attnum) as numbers
        from pg_catalog.json_array_elements_text(wanted.tenants) t (name)
        join pg_catalog.pg_attribute a on a.attrelid = c.oid and a.attname = t.name
      ) own
      where not exists (select from pg_catalog.pg_index i
        where i.indrelid = c.oid and i.indisvalid and i.indpred is null
          and (select pg_catalog.array_agg(k order by k)
            from unnest((i.indkey::int2[])[0:pg_catalog.cardinality(own.numbers) - 1]) k)
            = own.numbers)`,
  );
}
