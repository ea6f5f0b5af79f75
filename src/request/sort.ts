import * as v from "valibot";
import { type Path, pathOf, quote, under } from "../basics/errors/issue.ts";
import { MAX_LIST_ITEMS } from "../basics/errors/limits.ts";
import { isObject } from "../basics/json/json.ts";
import { check, type Findings, isFull, report } from "./findings.ts";
import { NAME, reportUnknownKey } from "./names.ts";

/** One key of the order; its name is a string, not a column yet. @see Q61 */
export interface SortItem {
  readonly field: string;
  readonly direction: "asc" | "desc";
}

const KEYS = ["field", "direction"];
const SORT = pathOf("sort");

/** One of the two directions of a sort item. @see Q62, Q63 */
export const DIRECTION = v.picklist(
  ["asc", "desc"],
  (issue) => `${quote(issue.input)} is not a direction, expected "asc" or "desc"`,
);

/** Checks the shape of `sort`. @see Q61 */
export function parseSort(findings: Findings, input: unknown): readonly SortItem[] {
  const items: SortItem[] = [];
  if (!Array.isArray(input)) {
    report(findings, SORT, `${quote(input)} is not an array, expected an array of sort items`);
    return [];
  }
  if (input.length > MAX_LIST_ITEMS) {
    report(findings, SORT, describeLongList(input, "sort items"));
    return [];
  }
  for (let index = 0; index < input.length && !isFull(findings); index++) {
    const item = parseSortItem(findings, input[index], { path: under(SORT, index) });
    if (item !== undefined) items.push(item);
  }
  return items;
}

/** Says that `select` or `sort` has more items than a table can have columns. */
export function describeLongList(input: readonly unknown[], items: string): string {
  return `the array has ${input.length} ${items}, expected at most ${MAX_LIST_ITEMS}`;
}

function parseSortItem(
  findings: Findings,
  input: unknown,
  { path }: { readonly path: Path },
): SortItem | undefined {
  if (!isObject(input)) {
    const expected = 'expected an object such as {"field": "id", "direction": "asc"}';
    report(findings, path, `${quote(input)} is not a sort item, ${expected}`);
    return undefined;
  }
  let field: string | undefined;
  let direction: SortItem["direction"] | undefined = "asc";
  let meant: string | undefined;
  for (const key of Object.keys(input)) {
    if (isFull(findings)) break;
    const place = { value: input[key], path: under(path, key) };
    if (key === "field") field = check(findings, NAME, place);
    else if (key === "direction") direction = check(findings, DIRECTION, place);
    else meant = reportUnknownKey(findings, key, { path, known: KEYS });
  }
  if (!Object.hasOwn(input, "field") && meant !== "field") {
    report(findings, under(path, "field"), "field is required, expected the name of a column");
  }
  return field === undefined || direction === undefined ? undefined : { field, direction };
}
