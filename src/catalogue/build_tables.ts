import { buildTable } from "./build_table.ts";
import type { Table } from "./catalogue.ts";
import type { FoundTable } from "./introspection.ts";
import type { NamedTable } from "./table_names.ts";
import { qualify } from "./quote_identifier.ts";
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
  /** The tables that its references lead to, as they were found. */
  readonly others: readonly (FoundTable | undefined)[];
  readonly warnings: readonly string[];
}

type Context = Omit<BuildContext, "warnings" | "blind">;

/** Passed as the other tables for one that refers to none, so that it cannot depend on them. */
const NO_OTHERS: Pick<Context, "tables" | "byIdentifier"> = {
  tables: new Map(),
  byIdentifier: new Map(),
};

/**
 * Builds tables. A table that is found and named as before is reused, unless types, the time zone or a
 * table that its references lead to changed. One that belongs to another table is always built.
 */
export function buildTables(
  named: ReadonlyMap<FoundTable, NamedTable>,
  context: Context,
  before: BuiltTables | undefined,
): BuiltTables {
  const { types, timeZone } = context;
  const kept = before?.types === types && before.timeZone === timeZone ? before.tables : undefined;
  const alone = { ...context, ...NO_OTHERS };
  const tables = new Map<FoundTable, BuiltTable>();
  for (const [found, candidate] of named) {
    const { policyKey, policy } = candidate;
    const old = kept?.get(found);
    const others = listOthers(candidate, context);
    if (policy?.tenantVia !== undefined) tables.set(found, build(candidate, context, others));
    else if (old?.policyKey === policyKey && old.policy === policy && isSame(old.others, others)) {
      tables.set(found, old);
    } else tables.set(found, build(candidate, others.length === 0 ? alone : context, others));
  }
  return { types, timeZone, tables };
}

function build(
  candidate: NamedTable,
  context: Context,
  others: BuiltTable["others"],
): BuiltTable {
  const { policyKey, policy } = candidate;
  const warnings: string[] = [];
  const blind = new Map<string, string>();
  const table = buildTable(candidate, { ...context, warnings, blind });
  return { policyKey, policy, table, blind, others, warnings };
}

/** Lists the tables that a table refers to, and those on their paths to a tenant. */
function listOthers(table: NamedTable, context: Context): readonly (FoundTable | undefined)[] {
  const others: (FoundTable | undefined)[] = [];
  for (const { schema, target } of table.foreignKeys) {
    let other = context.byIdentifier.get(qualify(schema, target));
    const passed = new Set<NamedTable>();
    for (; other !== undefined && !passed.has(other); other = nextOf(other, context)) {
      passed.add(other);
      others.push(other.found);
    }
    if (other === undefined) others.push(undefined);
  }
  return others;
}

function nextOf({ policy }: NamedTable, { tables }: Context): NamedTable | undefined {
  return policy?.tenantVia && tables.get(policy.tenantVia.table);
}

function isSame(some: BuiltTable["others"], others: BuiltTable["others"]): boolean {
  return some.length === others.length && some.every((each, place) => each === others[place]);
}
