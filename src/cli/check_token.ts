import type { Catalogue, Table, Tenancy } from "../catalogue/catalogue.ts";
import { splitTenant, tenantFitsColumns } from "../catalogue/tenant_column.ts";
import type { Database } from "../database/postgres/database.ts";
import { DatabaseError } from "../database/postgres/database_error.ts";
import type { Fragment } from "../database/postgres/driver.ts";
import { join, literal } from "../records/sql/fragment.ts";
import { nameStoredTable } from "../catalogue/table_names.ts";
import { nearest } from "../basics/text/nearest.ts";
import { printArray } from "../basics/text/array_text.ts";
import { type OpenedDatabase, withCatalogue } from "./with_database.ts";

/** Rows of a table that are read to find names of tenants. */
const ROWS_READ = "20000";
/** Tables that are asked for a tenant. */
const TABLES_ASKED = 200;

/** Problems of a token that is to be created. */
export interface TokenCheck {
  /** Why it must not be created. */
  readonly problem?: string;
  /** Why it is probably not what was meant. */
  readonly warning?: string;
}

/**
 * Checks the tables and the tenant of a token that is to be created. Tables that exist and are not
 * exposed, or not to this role, are no problem: the policy may come later.
 * @see A27, A28
 */
export async function checkNewToken(
  opened: OpenedDatabase,
  { tenant, tables }: { readonly tenant: string; readonly tables?: readonly string[] },
): Promise<TokenCheck> {
  const catalogue = await readCatalogue(opened);
  if (catalogue === undefined) return {};
  const missing = tables && await findMissing(opened, { tables, catalogue });
  if (missing !== undefined) return { problem: missing };
  const warning = await findTenantWarning(opened.database, { catalogue, tenant });
  return warning === undefined ? {} : { warning };
}

/** Undefined where it cannot be read; "rowgate tables" shows why. */
async function readCatalogue(opened: OpenedDatabase): Promise<Catalogue | undefined> {
  try {
    const silent = { ...opened, observe: () => {} };
    return await withCatalogue(silent, async (current) => await current.current());
  } catch {
    return undefined;
  }
}

async function findMissing(
  { database, config: { schemas }, policy }: OpenedDatabase,
  { tables, catalogue }: { readonly tables: readonly string[]; readonly catalogue: Catalogue },
): Promise<string | undefined> {
  const unknown = tables.filter((name) => !catalogue.tables.has(name));
  if (unknown.length === 0) return undefined;
  const rows = await database.run<{ schema: string; name: string }>(
    (sql) =>
      sql`select n.nspname::text as schema, c.relname::text as name from pg_catalog.pg_class c
        join pg_catalog.pg_namespace n on n.oid = c.relnamespace
          and n.nspname = any (${printArray(schemas)}::text::text[])
        where c.relkind in ('r', 'p', 'v', 'm', 'f')`,
    { write: false },
  );
  const existing = new Set(rows.map((stored) => nameStoredTable(stored, { policy, schemas })));
  const missing = unknown.find((name) => !existing.has(name));
  if (missing === undefined) return undefined;
  const near = nearest(missing, [...catalogue.tables.keys()]);
  return `--tables: there is no table ${JSON.stringify(missing)}` +
    (near === undefined ? "" : `, did you mean ${JSON.stringify(near)}`);
}

type TenantTable = Table & { readonly tenancy: Tenancy };

/** Warns of a tenant without rows, unless no tenant has any. */
async function findTenantWarning(
  database: Database,
  { catalogue, tenant }: { readonly catalogue: Catalogue; readonly tenant: string },
): Promise<string | undefined> {
  const quoted = JSON.stringify(tenant);
  const all = [...catalogue.tables.values()];
  const kinds = all.flatMap((table) =>
    table.tenancy?.columns.map(({ kind }) => kind).join("/") ?? []
  );
  if (kinds.length === 0) return undefined;
  const fitting = all.filter(({ tenancy }) =>
    tenancy && tenantFitsColumns(tenant, tenancy.columns)
  );
  if (fitting.length === 0) {
    const expected = [...new Set(kinds)].sort().join(" or ");
    return `no table can hold the tenant ${quoted}; tenants are of type ${expected} here`;
  }
  try {
    const tenants = await findTenants(database, { tables: fitting.filter(hasTenant), tenant });
    if (tenants === undefined || tenants.size === 0) return undefined;
    const near = nearest(tenant, [...tenants]);
    return `no table has rows of the tenant ${quoted}` +
      (near === undefined ? "" : `, did you mean ${JSON.stringify(near)}?`);
  } catch (error) {
    if (error instanceof DatabaseError) return undefined;
    throw error;
  }
}

/** Reports whether a table has the tenant columns itself. */
function hasTenant(table: Table): table is TenantTable {
  return table.tenancy?.via.length === 0;
}

/** Returns some tenants that have rows; undefined if this one has. */
async function findTenants(
  database: Database,
  { tables, tenant }: { readonly tables: readonly TenantTable[]; readonly tenant: string },
): Promise<Set<string> | undefined> {
  const found = new Set<string>();
  for (const table of tables.slice(0, TABLES_ASKED)) {
    const rows = await database.run<{ tenant: string }>((sql) => {
      const { columns } = table.tenancy;
      const parts = splitTenant(tenant, columns.length)!;
      const names = columns.map(({ identifier }) => literal(sql, identifier));
      const equal = columns.map(({ cast }, place) =>
        sql`${names[place]!} = ${parts[place]!}::text::${literal(sql, cast)}`
      );
      const present = names.map((name) => sql`${name} is not null`);
      const texts = names.map((name) => sql`${name}::text`);
      const read = (condition: Fragment) =>
        sql`select pg_catalog.concat_ws('/', ${join(sql, ",", texts)}) as tenant
          from ${literal(sql, table.identifier)} where ${condition}`;
      return sql`(${read(join(sql, "and", equal))} limit 1)
        union
        select distinct read.tenant from (
          ${read(join(sql, "and", present))} limit ${ROWS_READ}::text::int8
        ) read`;
    }, { write: false });
    for (const row of rows) found.add(row.tenant);
    if (found.has(tenant)) return undefined;
  }
  return found;
}
