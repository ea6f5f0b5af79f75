import type { Column, Table } from "../../catalogue/catalogue.ts";
import type { ApiError } from "../../basics/errors/api_error.ts";
import { type Issue, type Path, quote, rejectIssues } from "../../basics/errors/issue.ts";
import { MAX_REPORTED_ISSUES } from "../../basics/errors/limits.ts";
import type { SourceText } from "../../basics/json/source_text.ts";
import { nearest } from "../../basics/text/nearest.ts";

/** The issues found in a request while it is planned, and the limits that apply. */
export interface Findings {
  readonly issues: Issue[];
  /** The text of the request. */
  readonly source: SourceText;
  /** Of one value of type `tsquery`. */
  readonly maxTsqueryCharacters: number;
}

/**
 * Plans the items of a list in order, until there are as many issues as a response reports; a body
 * may have 300,000 misspelt names.
 */
export function planEach<T, R>(
  list: readonly T[],
  findings: Findings,
  plan: (item: T, position: number) => R | undefined,
): R[] {
  const before = findings.issues.length;
  const planned: R[] = [];
  for (const [position, item] of list.entries()) {
    if (findings.issues.length - before >= MAX_REPORTED_ISSUES) break;
    const result = plan(item, position);
    if (result !== undefined) planned.push(result);
  }
  return planned;
}

/**
 * Plans each item of a request by itself: those that can be written, and the errors of the others, by
 * their positions.
 * @see OE2
 */
export function planAlone<Item, Planned>(
  items: readonly Item[],
  document: unknown,
  plan: (item: Item, place: number) => { readonly planned: Planned; readonly findings: Findings },
): { readonly planned: readonly Planned[]; readonly failed: ReadonlyMap<number, ApiError> } {
  const all: Planned[] = [];
  const failed = new Map<number, ApiError>();
  for (const [place, item] of items.entries()) {
    const { planned, findings: { issues } } = plan(item, place);
    if (issues.length === 0) all.push(planned);
    else failed.set(place, rejectIssues(issues, document));
  }
  return { planned: all, failed };
}

/**
 * Returns the column of a name; undefined, with an issue at the path, if there is none. This is the
 * only way from a name to a column, so no request can reach a hidden column.
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
