import type { Catalogue } from "../catalogue/catalogue.ts";
import type { Database } from "../postgres/database.ts";
import { NAME_PATTERN } from "../errors/limits.ts";

/** A table of the schema that no client can reach, and why. */
export interface HiddenTable {
  readonly name: string;
  readonly reason: string;
}

/** What is looked at. */
export interface HiddenOptions {
  readonly schema: string;
  readonly tenantColumn: string;
  readonly catalogue: Catalogue;
}

interface Found {
  readonly name: string;
  readonly kind: string;
  readonly readable: string;
  readonly scoped: string;
}

/** Finds the tables and views of the schema that are not exposed, by name, each with the reason. */
export async function findHidden(
  database: Database,
  { schema, tenantColumn, catalogue }: HiddenOptions,
): Promise<readonly HiddenTable[]> {
  const rows = await database.run<Found & Record<string, string>>(
    (sql) =>
      sql`select c.relname::text as name, c.relkind::text as kind,
          pg_catalog.has_any_column_privilege(c.oid, 'SELECT')::text as readable,
          exists (select from pg_catalog.pg_attribute a where a.attrelid = c.oid
            and a.attname = ${tenantColumn}::text and not a.attisdropped)::text as scoped
        from pg_catalog.pg_class c
        join pg_catalog.pg_namespace n on n.oid = c.relnamespace and n.nspname = ${schema}::text
        where c.relkind in ('r', 'p', 'v', 'm', 'f') and not c.relispartition
        order by c.relname`,
    { write: false },
  );
  return rows.filter((row) => !catalogue.tables.has(row.name))
    .map((row) => ({ name: row.name, reason: explain(row, { tenantColumn, catalogue }) }));
}

function explain(
  { name, kind, readable, scoped }: Found,
  { tenantColumn, catalogue }: Omit<HiddenOptions, "schema">,
): string {
  if (catalogue.credentialTables.has(name.toLowerCase())) return "credential table";
  if (!NAME_PATTERN.test(name)) return "its name has other characters than A-Z a-z 0-9 _";
  if (kind !== "r" && kind !== "p") return "a view or foreign table, which the policy must expose";
  if (readable !== "true") return "the database role may not select from it";
  if (scoped !== "true") return `it has no column ${tenantColumn}, and the policy names no other`;
  return `its column ${tenantColumn} can not be read or is of a type that can not carry a tenant`;
}
