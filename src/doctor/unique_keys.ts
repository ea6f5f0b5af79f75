import { quoteIdentifier } from "../catalogue/quote_identifier.ts";
import { askJson, printTenants } from "./ask.ts";
import {
  type Check,
  count,
  type Diagnosis,
  listTenantTables,
  type Setup,
  type TenantTable,
} from "./diagnosis.ts";

/** A unique index without the tenant column. */
interface UniqueKey {
  readonly name: string;
  readonly table: string;
  readonly columns: readonly string[];
}

/** A key that is unique over all tenants tells each of them which values the others have. */
export const checkUniqueKeys: Check = { name: "unique keys", look };

async function look(setup: Setup): Promise<Diagnosis> {
  const keys = await readUniqueKeys(setup);
  const findings = keys.filter((key) => isWritable(setup, key)).map(({ name, table, columns }) => {
    const { identifier, tenant } = setup.catalogue.tables.get(table) as TenantTable;
    const quoted = columns.map(quoteIdentifier);
    return {
      level: "warning" as const,
      what: `${columns.join(", ")} of ${table} must be unique over all tenants (${name})`,
      why:
        "an update to a value that another tenant has is refused with 409, which tells that it is" +
        " there",
      fix: `create unique index concurrently on ${identifier} (${
        [tenant.identifier, ...quoted].join(", ")
      });    -- then drop "${name}"`,
    };
  });
  return { seen: `${count(keys.length, "key")} without tenant`, findings };
}

/** What no update can set can not be tried out. */
function isWritable({ catalogue }: Setup, { table, columns }: UniqueKey): boolean {
  const found = catalogue.tables.get(table)!;
  return found.writable && columns.some((name) => {
    const column = found.columns.get(name);
    return column !== undefined && column.readOnly === undefined;
  });
}

function readUniqueKeys(setup: Setup): Promise<readonly UniqueKey[]> {
  const [names, tenants] = printTenants(listTenantTables(setup));
  const { database, config } = setup;
  return askJson(
    database,
    (sql) =>
      sql`select coalesce(pg_catalog.json_agg(pg_catalog.json_build_object(
        'name', x.relname, 'table', c.relname,
        'columns', (select pg_catalog.json_agg(a.attname order by a.attnum)
          from pg_catalog.pg_attribute a where a.attrelid = c.oid and a.attnum = any (i.indkey)))
        order by c.relname, x.relname), '[]')::text as found
      from unnest(${names}::text::text[], ${tenants}::text::text[]) wanted (name, tenant)
      join pg_catalog.pg_namespace n on n.nspname = ${config.schema}::text
      join pg_catalog.pg_class c on c.relnamespace = n.oid and c.relname = wanted.name
      join pg_catalog.pg_attribute t on t.attrelid = c.oid and t.attname = wanted.tenant
      join pg_catalog.pg_index i on i.indrelid = c.oid and i.indisunique and i.indexprs is null
        and t.attnum <> all (i.indkey)
      join pg_catalog.pg_class x on x.oid = i.indexrelid`,
  );
}
