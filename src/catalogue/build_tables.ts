import { buildTable } from "./build_table.ts";
import type { Table } from "./catalogue.ts";
import type { FoundTable } from "./introspection.ts";
import type { NamedTable } from "./table_names.ts";
import type { BuildContext } from "./tenant_column.ts";

/** The tables of a catalogue, and what they were built with. */
export interface BuiltTables extends Pick<BuildContext, "types" | "timeZone"> {
  readonly tables: ReadonlyMap<FoundTable, BuiltTable>;
}

/** A built table, and its policy. */
interface BuiltTable extends Pick<NamedTable, "policyKey" | "policy"> {
  /** Undefined where it is not exposed. */
  readonly table: Table | undefined;
  readonly blind: ReadonlyMap<string, string>;
  readonly warnings: readonly string[];
}

type Context = Omit<BuildContext, "warnings" | "blind">;

/** Passed as the other tables for one that belongs to none, so that it cannot depend on them. */
const NO_OTHERS: Context["tables"] = new Map();

/**
 * Builds tables. A table that is found and named as before is reused, unless types or the time zone
 * changed. One that belongs to another table is always built, because it depends on that one too.
 */
export function buildTables(
  named: Iterable<readonly [FoundTable, NamedTable]>,
  context: Context,
  before: BuiltTables | undefined,
): BuiltTables {
  const { types, timeZone } = context;
  const kept = before?.types === types && before.timeZone === timeZone ? before.tables : undefined;
  const alone = { ...context, tables: NO_OTHERS };
  const tables = new Map<FoundTable, BuiltTable>();
  for (const [found, candidate] of named) {
    const { policyKey, policy } = candidate;
    const old = kept?.get(found);
    if (policy?.tenantVia !== undefined) tables.set(found, build(candidate, context));
    else if (old?.policyKey === policyKey && old.policy === policy) tables.set(found, old);
    else tables.set(found, build(candidate, alone));
  }
  return { types, timeZone, tables };
}

function build(candidate: NamedTable, context: Context): BuiltTable {
  const { policyKey, policy } = candidate;
  const warnings: string[] = [];
  const blind = new Map<string, string>();
  const table = buildTable(candidate, { ...context, warnings, blind });
  return { policyKey, policy, table, blind, warnings };
}
