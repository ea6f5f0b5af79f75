import type { Column, Table } from "../catalogue/catalogue.ts";
import { type Issue, type Path, quote } from "../errors/issue.ts";
import { MAX_ISSUES_TOLD } from "../errors/limits.ts";
import { nearest } from "../text/nearest.ts";
import type { ClientWords } from "../json/client_words.ts";
import type { Takes } from "../request/body_parts.ts";

/** Collects what is wrong with a request while it is planned. */
export interface Findings {
  readonly issues: Issue[];
  /** How the request was written. */
  readonly words: ClientWords;
}

/**
 * Goes through a list of the client's in order, until it has given as many issues as an answer tells:
 * a body may hold 300,000 misspelt names.
 */
export function collect<T, R>(
  list: readonly T[],
  findings: Findings,
  plan: (item: T, position: number) => R | undefined,
): R[] {
  const before = findings.issues.length;
  const planned: R[] = [];
  for (const [position, item] of list.entries()) {
    if (findings.issues.length - before >= MAX_ISSUES_TOLD) break;
    const result = plan(item, position);
    if (result !== undefined) planned.push(result);
  }
  return planned;
}

/**
 * Gives the column that a client's name means; the only way from a name to a column, so a hidden one
 * does not exist anywhere. Undefined, with an issue at the path, when there is none.
 * @see docs/specification/tables-and-fields.md#hidden-columns
 */
export function resolveColumn(
  table: Table,
  name: string,
  { path, findings }: { path: Path; findings: Findings },
): Column | undefined {
  const column = table.columns.get(name);
  if (column !== undefined) return column;
  const near = nearest(name, [...table.columns.keys()]);
  const expected = near === undefined
    ? `expected a column of table ${quote(table.name)}`
    : `did you mean ${quote(near)}`;
  findings.issues.push({ path, message: `Unknown column ${quote(name)}, ${expected}` });
  return undefined;
}

/** Tells what a column of a table takes; undefined where there is no such column. */
export function takesOf(table: Table, name: string): Takes | undefined {
  const column = table.columns.get(name);
  if (column === undefined) return undefined;
  if (column.kind === "json") return "json";
  if (column.kind !== "array" || column.elementKind === undefined) return "scalars";
  return column.elementKind === "json" ? "lists of json" : "lists";
}
