import type { Column, Table } from "../../catalogue/catalogue.ts";
import { printPath } from "../../basics/errors/issue.ts";
import { MAX_TSQUERY_CHARACTERS } from "../../basics/errors/limits.ts";
import { NO_SOURCE } from "../../basics/json/source_text.ts";
import type { Findings } from "./column.ts";
import { planGroup } from "./filters.ts";
import type { Predicate, Value } from "./predicate.ts";

/** A row filter of the policy after all checks, or what is wrong with it. */
export type PlannedRowFilter =
  | { readonly predicate: Predicate; readonly columns: ReadonlySet<Column> }
  | { readonly problem: string };

const PLANNED = new WeakMap<Table, PlannedRowFilter>();

/**
 * Plans the row filter of a table, once. Postgres must be certain to accept its values; otherwise no
 * request could succeed.
 * @see T64, T65
 */
export function planRowFilter(table: Table): PlannedRowFilter {
  const known = PLANNED.get(table);
  if (known !== undefined) return known;
  const planned = plan(table);
  PLANNED.set(table, planned);
  return planned;
}

/**
 * Lists the columns that decide which rows of a table clients see, in the order of their names. A
 * changes feed logs what they were before a change.
 * @see CH25
 */
export function imagesOf(table: Table): readonly Column[] {
  const planned = table.only === undefined ? undefined : planRowFilter(table);
  const filtered = planned === undefined || "problem" in planned ? [] : planned.columns;
  const columns = new Map(
    [...filtered, ...table.rowSecurity?.columns ?? []].map((column) => [column.identifier, column]),
  );
  return [...columns.values()].toSorted((one, other) => one.identifier < other.identifier ? -1 : 1);
}

function plan(table: Table): PlannedRowFilter {
  const { group, columns } = table.only!;
  const findings: Findings = {
    issues: [],
    source: NO_SOURCE,
    maxTsqueryCharacters: MAX_TSQUERY_CHARACTERS,
  };
  const predicate = planGroup(group, { table: { ...table, columns }, findings });
  const [issue] = findings.issues;
  if (issue !== undefined) {
    return { problem: `${printPath(issue.path).replace(/^filters/, "only")}: ${issue.message}` };
  }
  const uncertain = findUncertain(predicate);
  if (uncertain !== undefined) {
    const { name, type } = uncertain;
    return { problem: `only: values of column "${name}" of type ${type} cannot be checked` };
  }
  return { predicate, columns: new Set(listColumns(predicate)) };
}

function listColumns(predicate: Predicate): Column[] {
  return "items" in predicate ? predicate.items.flatMap(listColumns) : [predicate.column];
}

function findUncertain(predicate: Predicate): Column | undefined {
  if ("items" in predicate) return predicate.items.map(findUncertain).find(Boolean);
  return listValues(predicate).every(({ certain }) => certain) ? undefined : predicate.column;
}

function listValues(predicate: Predicate): readonly Value[] {
  switch (predicate.kind) {
    case "compare":
      return [predicate.value];
    case "between":
      return [predicate.low, predicate.high];
    case "member":
      return predicate.values;
    default:
      return [];
  }
}
