import type { Command } from "commander";
import type { Catalogue, Table } from "../catalogue/catalogue.ts";
import type { Host } from "../runtime/host.ts";
import { printColumns, type Run } from "./subcommand.ts";
import { withCatalogue, withDatabase } from "./with_database.ts";
import type { Database } from "../postgres/database.ts";
import { NAME_PATTERN } from "../errors/limits.ts";

const EXAMPLE = `
Example:
  DATABASE_URL=postgres://app:…@db/shop rowgate tables`;

/** Adds `rowgate tables`. */
export function addTables(root: Command, run: Run): void {
  root.command("tables")
    .description("list the tables that clients can reach, and why others can not be reached")
    .addHelpText("after", EXAMPLE)
    .action(() => run(listTables));
}

function listTables(host: Host): Promise<number> {
  return withDatabase(host, (workplace) =>
    withCatalogue(workplace, async (following) => {
      const catalogue = await following.current();
      const tables = [...catalogue.tables.values()];
      const head = ["TABLE", "KEY", "TENANT", "WRITABLE"];
      host.stdout.write(printColumns([head, ...tables.map(describe)]));
      const { schema, tenantColumn } = workplace.config;
      const hidden = await findHidden(workplace.database, { schema, tenantColumn, catalogue });
      if (hidden.length === 0) return 0;
      const rows = hidden.map(({ name, reason }) => [name, reason]);
      host.stdout.write(`\n${printColumns([["NOT REACHED", "WHY"], ...rows])}`);
      return 0;
    }));
}

function describe({ name, primaryKey, tenant, writable }: Table): readonly string[] {
  const key = primaryKey.map((column) => column.name).join(", ");
  return [name, key || "none", tenant?.name ?? "shared", writable ? "yes" : "no"];
}

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
