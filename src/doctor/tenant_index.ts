import { askJson, printTenants } from "./ask.ts";
import { type Check, count, type Diagnosis, listTenantTables, type Setup } from "./diagnosis.ts";

/** A table of tenants without an index that begins with the tenant column. */
interface Unindexed {
  readonly table: string;
  /** Rows by the planner's estimate; -1 where it has none. */
  readonly rows: number;
  readonly partitioned: boolean;
}

/** Every statement looks for one tenant: without an index it reads all tenants' rows. */
export const checkTenantIndexes: Check = { name: "indexes by tenant", look };

async function look(setup: Setup): Promise<Diagnosis> {
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
