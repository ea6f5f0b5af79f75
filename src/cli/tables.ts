import type { Command } from "commander";
import type { Catalogue, Table } from "../catalogue/catalogue.ts";
import { qualify, quoteIdentifier } from "../catalogue/quote_identifier.ts";
import { callTable } from "../catalogue/table_names.ts";
import { NAME_PATTERN } from "../errors/limits.ts";
import type { Database } from "../postgres/database.ts";
import type { Host } from "../runtime/host.ts";
import { printArray } from "../text/array_text.ts";
import { planRowFilter } from "../plan/row_filter.ts";
import { printColumns, type RunWork } from "./subcommand.ts";
import { withCatalogue, withDatabase } from "./with_database.ts";

const EXAMPLES = `
Example:
  DATABASE_URL=postgres://app:…@db/shop rowgate tables`;

/** Adds `rowgate tables`. */
export function addTables(root: Command, run: RunWork): void {
  root.command("tables")
    .description("List the tables that clients reach, and why they do not reach the others")
    .addHelpText("after", EXAMPLES)
    .action(() => run(listTables));
}

function listTables(host: Host): Promise<number> {
  return withDatabase(host, (opened) =>
    withCatalogue(opened, async (current) => {
      const catalogue = await current.current();
      const all = [...catalogue.tables.values()];
      const closed = all.flatMap(explainClosed);
      const tables = all.filter(({ name }) => !closed.some((other) => other.name === name));
      const head = ["TABLE", "KEY", "TENANT", "WRITABLE", "CHANGES"];
      host.stdout.write(printColumns([head, ...tables.map(toColumns)]));
      const { schemas, tenantColumn } = opened.config;
      const hidden: readonly Hidden[] = [
        ...closed,
        ...all.flatMap(listUnnamed),
        ...await findHidden(opened.database, { schemas, tenantColumn, catalogue }),
      ];
      if (hidden.length === 0) return 0;
      host.stdout.write(`\n${printColumns([["NOT EXPOSED", "WHY"], ...hidden.map(toReason)])}`);
      const advice = hidden.filter(({ type }) => type !== undefined);
      if (advice.length === 0) return 0;
      host.stdout.write(
        "\nTo expose them, as the owner of the database or in the policy file:\n\n",
      );
      host.stdout.write(
        [...new Set(advice.map(({ type }) => `${type}\n`))].join(""),
      );
      return 0;
    }));
}

function toColumns({ name, primaryKey, tenancy, writable, feed }: Table): readonly string[] {
  const key = primaryKey.map((column) => column.name).join(", ");
  const feeds = feed === undefined ? "no" : "yes";
  return [name, key || "none", printTenancy(tenancy), writable ? "yes" : "no", feeds];
}

const UNWRITABLE = "its name has characters other than A-Z a-z 0-9 _, and none in the policy";

function listUnnamed({ name, unnamed = [] }: Table): Hidden[] {
  return unnamed.map((column) => ({
    name: `${name}.${quoteIdentifier(column)}`,
    why: UNWRITABLE,
  }));
}

/** A table whose row filter does not fit its columns is not found by any request. */
function explainClosed(table: Table): Hidden[] {
  const filter = table.only && planRowFilter(table);
  return filter !== undefined && "problem" in filter
    ? [{ name: table.name, why: filter.problem }]
    : [];
}

/** `tenant_id`, or `orders.tenant_id` for a table whose rows belong to those of another one. */
function printTenancy(tenancy: Table["tenancy"]): string {
  if (tenancy === undefined) return "shared";
  const columns = tenancy.columns.map(({ name }) => name).join("/");
  return [...tenancy.via.map(({ table }) => table), columns].join(".");
}

interface HiddenOptions {
  readonly schemas: readonly string[];
  readonly tenantColumn: string;
  readonly catalogue: Catalogue;
}

interface Relation {
  readonly name: string;
  /** As in `pg_class.relkind`. */
  readonly kind: string;
  readonly identifier: string;
  readonly usable: string;
  readonly readable: string;
  readonly has_tenant: string;
  /** The role of the session, quoted. */
  readonly role: string;
  readonly schema: string;
}

/** A relation that is not exposed: why, and what to type to expose it, if that is all it takes. */
interface Hidden {
  readonly name: string;
  readonly why: string;
  readonly type?: string;
}

function toReason({ name, why }: Hidden): readonly string[] {
  return [name, why];
}

/** Finds the tables and views of the schema that are not exposed. */
async function findHidden(
  database: Database,
  { schemas, tenantColumn, catalogue }: HiddenOptions,
): Promise<readonly Hidden[]> {
  const relations = await database.run<Relation & Record<string, string>>(
    (sql) =>
      sql`select c.relname::text as name, c.relkind::text as kind,
          pg_catalog.format('%I.%I', n.nspname, c.relname) as identifier,
          pg_catalog.has_schema_privilege(n.oid, 'USAGE')::text as usable,
          pg_catalog.has_any_column_privilege(c.oid, 'SELECT')::text as readable,
          exists (select from pg_catalog.pg_attribute a where a.attrelid = c.oid
            and a.attname = ${tenantColumn}::text and not a.attisdropped)::text as has_tenant,
          pg_catalog.quote_ident(current_user) as role,
          n.nspname::text as schema
        from unnest(${printArray(schemas)}::text::text[]) with ordinality s (name, place)
        join pg_catalog.pg_namespace n on n.nspname = s.name
        join pg_catalog.pg_class c on c.relnamespace = n.oid
        where c.relkind in ('r', 'p', 'v', 'm', 'f') and not c.relispartition
        order by s.place, c.relname`,
    { write: false },
  );
  const exposed = new Set<string>([...catalogue.tables.values()].map((each) => each.identifier));
  return relations.filter(({ schema, name }) => !exposed.has(qualify(schema, name)))
    .map((relation) => ({
      name: callTable(relation, schemas),
      ...explainHidden(relation, { schemas, tenantColumn, catalogue }),
    }));
}

function explainHidden(
  { schema, name, kind, identifier, usable, readable, has_tenant, role }: Relation,
  { schemas, tenantColumn, catalogue }: HiddenOptions,
): Omit<Hidden, "name"> {
  const called = callTable({ schema, name }, schemas);
  const key = called === name ? name : `${schema}.${name}`;
  const inPolicy = (policy: object) => JSON.stringify({ tables: { [key]: policy } });
  if ([name, called].some((each) => catalogue.credentialTables.has(each.toLowerCase()))) {
    return { why: "credential table" };
  }
  if (!NAME_PATTERN.test(called)) {
    const suggested = called.replaceAll(/[^A-Za-z0-9_]/g, "_");
    return { why: UNWRITABLE, type: inPolicy({ name: suggested }) };
  }
  const stored = kind === "r" || kind === "p";
  if (usable !== "true") {
    return {
      why: "the database role may not use the schema",
      type: `grant usage on schema ${quoteIdentifier(schema)} to ${role};`,
    };
  }
  if (readable !== "true") {
    return {
      why: "the database role may not select from it",
      type: `grant select${stored ? ", update" : ""} on ${identifier} to ${role};`,
    };
  }
  if (!stored) {
    return {
      why: "view or foreign table that the policy does not expose",
      type: inPolicy({ expose: true, primary_key: ["…"] }),
    };
  }
  if (has_tenant !== "true") {
    return {
      why: `no column ${tenantColumn}, and the policy names no other`,
      type: `${inPolicy({ tenant_column: "…" })}, or for all tenants to read: ` +
        `${inPolicy({ shared: true })}, or over a foreign key: ` +
        inPolicy({ tenant_via: { columns: ["…"], table: "…" } }),
    };
  }
  return {
    why: `its column ${tenantColumn} cannot be read, or cannot hold a tenant because of its type`,
  };
}
