import type { Command } from "commander";
import type { Table } from "../catalogue/catalogue.ts";
import { quoteIdentifier } from "../catalogue/quote_identifier.ts";
import type { Host } from "../server/runtime/host.ts";
import { planRowFilter } from "../records/plan/row_filter.ts";
import type { Observe } from "../server/telemetry/observe.ts";
import { findHidden, type Hidden, UNWRITABLE } from "./hidden_tables.ts";
import { findMissingRights, type MissingRight } from "./doctor/missing_rights.ts";
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
  return withDatabase(host, (opened) => {
    const warnings: string[] = [];
    const observe: Observe = (observation) => {
      if (observation.kind === "warning") warnings.push(observation.message);
      opened.observe(observation);
    };
    return withCatalogue({ ...opened, observe }, async (current) => {
      const catalogue = await current.current();
      const all = [...catalogue.tables.values()];
      const closed = all.flatMap(explainClosed);
      const tables = all.filter(({ name }) => !closed.some((other) => other.name === name));
      const head = ["TABLE", "KEY", "TENANT", "WRITABLE", "CHANGES"];
      host.stdout.write(printColumns([head, ...tables.map(toColumns)]));
      const missing = await findMissingRights(opened.database, catalogue);
      host.stdout.write(printMissing(missing, tables));
      const { schemas, tenantColumn } = opened.config;
      const hidden: readonly Hidden[] = [
        ...closed,
        ...all.flatMap(listUnnamed),
        ...await findHidden(opened.database, { schemas, tenantColumn, catalogue, warnings }),
      ];
      if (hidden.length === 0) return 0;
      host.stdout.write(`\n${printColumns([["NOT EXPOSED", "WHY"], ...hidden.map(toReason)])}`);
      host.stdout.write(printAdvice(hidden));
      return 0;
    });
  });
}

function printLines(title: string, lines: readonly string[]): string {
  return lines.length === 0 ? "" : `\n${title}:\n\n${[...new Set(lines)].join("\n")}\n`;
}

/** Prints what to type: statements apart from entries of the policy. */
function printAdvice(hidden: readonly Hidden[]): string {
  return printLines(
    "To expose them, as the owner of the database",
    hidden.flatMap(({ grants }) => grants),
  ) +
    printLines(
      "To expose them, in the policy file, one of the lines of each table",
      hidden.flatMap(({ entries }) => entries),
    );
}

function toReason({ name, why }: Hidden): readonly string[] {
  return [name, why];
}

function toColumns({ name, primaryKey, tenancy, writable, feed }: Table): readonly string[] {
  const key = primaryKey.map((column) => column.name).join(", ");
  const feeds = feed === undefined ? "no" : "yes";
  return [name, key || "none", printTenancy(tenancy), writable ? "yes" : "no", feeds];
}

/** Prints what clients are meant to do and cannot, and the statements that let them. @see R70, R71 */
function printMissing(missing: readonly MissingRight[], tables: readonly Table[]): string {
  const lines = [
    ...missing.map(({ table, what, why }) => [table, `${what}: ${why}`]),
    ...tables.filter(({ creatable }) => creatable).flatMap(({ name, gaps }) =>
      (gaps?.unsettable ?? []).map((column) => [
        name,
        `a new record needs a value for ${quoteIdentifier(column)}, which no client can set`,
      ])
    ),
  ];
  if (lines.length === 0) return "";
  return `\n${printColumns([["NOT POSSIBLE", "WHY"], ...lines])}` +
    printLines("To allow it, as the owner of the database", missing.map(({ grant }) => grant));
}

function listUnnamed({ name, unnamed = [] }: Table): Hidden[] {
  return unnamed.map((column) => ({
    name: `${name}.${quoteIdentifier(column)}`,
    why: UNWRITABLE,
    grants: [],
    entries: [],
  }));
}

/** Explains tables whose row filter does not fit their columns: no request finds them. */
function explainClosed(table: Table): Hidden[] {
  const filter = table.only && planRowFilter(table);
  return filter !== undefined && "problem" in filter
    ? [{ name: table.name, why: filter.problem, grants: [], entries: [] }]
    : [];
}

/** `tenant_id`, or `orders.tenant_id` for a table whose rows belong to those of another one. */
function printTenancy(tenancy: Table["tenancy"]): string {
  if (tenancy === undefined) return "shared";
  const columns = tenancy.columns.map(({ name }) => name).join("/");
  return [...tenancy.via.map(({ table }) => table), columns].join(".");
}
