import { type Path, pathOf, quote, under } from "../basics/errors/issue.ts";
import {
  MAX_CONDITIONS,
  MAX_CONTAINED_ITEMS,
  MAX_GROUP_DEPTH,
  MAX_LIST_ITEMS,
} from "../basics/errors/limits.ts";
import { isObject, type Json } from "../basics/json/json.ts";
import { type Condition, CONDITION_KEYS, hasPattern, parseCondition } from "./condition.ts";
import { type Findings, isFull, report } from "./findings.ts";

/** A group of valid shape. @see Q6 */
export interface Group {
  readonly kind: "group";
  readonly combine: "and" | "or";
  readonly items: readonly Filter[];
  readonly path: Path;
}

/** A member of a group; its names are strings, not columns yet. @see Q11 */
export type Filter = Group | Condition;

/** Counts of all groups and conditions of a request so far. */
interface Tally {
  readonly findings: Findings;
  /** Items so far that are not groups. */
  conditions: number;
  /** Groups so far. */
  groups: number;
  /** Characters of patterns so far. */
  patternCharacters: number;
  /** Items of values of `contains` so far. */
  containedItems: number;
  readonly maxPatternCharacters: number;
}

const ONE_KEY = 'expected an object with exactly one key, "and" or "or"';

/**
 * Checks the shape of `filters`; undefined, with issues, if it is not valid. Depth and conditions are
 * counted before an item is checked, so that no filter, however deep or wide, costs more than the
 * limits allow.
 * @see Q6, L1, L3
 */
export function parseFilters(
  findings: Findings,
  input: unknown,
  { maxPatternCharacters }: { readonly maxPatternCharacters: number },
): Group | undefined {
  const path = pathOf("filters");
  if (isObject(input) && isGroup(input)) {
    const counts = { conditions: 0, groups: 0, patternCharacters: 0, containedItems: 0 };
    return parseGroup({ findings, ...counts, maxPatternCharacters }, input, { path, depth: 1 });
  }
  report(findings, path, `${describeNoGroup(input)}, ${ONE_KEY}`);
  return undefined;
}

function describeNoGroup(input: unknown): string {
  if (!isObject(input)) return `${quote(input)} is not a group`;
  return isCondition(input) ? "a condition cannot stand alone" : describeKeys(input);
}

function parseGroup(
  tally: Tally,
  input: Readonly<Record<string, unknown>>,
  { path, depth }: { readonly path: Path; readonly depth: number },
): Group | undefined {
  const { findings } = tally;
  if (depth > MAX_GROUP_DEPTH) {
    const limit = `expected at most ${MAX_GROUP_DEPTH} groups inside each other`;
    report(findings, path, `the group is nested too deeply, at depth ${depth}, ${limit}`);
    return undefined;
  }
  if (++tally.groups > MAX_LIST_ITEMS) {
    const limit = `expected at most ${MAX_LIST_ITEMS} in a request`;
    report(findings, path, `one group too many, ${limit}`);
    return undefined;
  }
  const keys = Object.keys(input);
  if (keys.length !== 1) {
    report(findings, path, `${describeKeys(input)}, ${ONE_KEY}`);
    return undefined;
  }
  const combine = keys[0] as "and" | "or";
  const members = input[combine];
  const listPath = under(path, combine);
  if (!Array.isArray(members)) {
    const wrong = `${quote(members)} is not an array`;
    report(findings, listPath, `${wrong}, expected an array of conditions and groups`);
    return undefined;
  }
  const items: Filter[] = [];
  for (let index = 0; index < members.length && !isFull(findings); index++) {
    const item = parseItem(tally, members[index], { path: under(listPath, index), depth });
    if (isOver(tally)) return undefined;
    if (item !== undefined) items.push(item);
  }
  return { kind: "group", combine, items, path };
}

/** Reports whether a limit was exceeded, which is reported only once. */
function isOver({ conditions, groups }: Tally): boolean {
  return conditions > MAX_CONDITIONS || groups > MAX_LIST_ITEMS;
}

function parseItem(
  tally: Tally,
  input: unknown,
  { path, depth }: { readonly path: Path; readonly depth: number },
): Filter | undefined {
  if (isObject(input) && isGroup(input)) {
    return parseGroup(tally, input, { path, depth: depth + 1 });
  }
  if (++tally.conditions > MAX_CONDITIONS) {
    report(
      tally.findings,
      path,
      `one condition too many, expected at most ${MAX_CONDITIONS} in a request`,
    );
    return undefined;
  }
  if (isObject(input) && isCondition(input)) {
    const condition = parseCondition(tally.findings, input, { path });
    if (condition === undefined) return undefined;
    countPattern(tally, condition);
    if (condition.op === "contains") countContained(tally, condition);
    return condition;
  }
  const wrong = isObject(input) ? describeKeys(input) : quote(input);
  report(
    tally.findings,
    path,
    `${wrong} is neither a condition nor a group, expected field, op and value, or "and" or "or"`,
  );
  return undefined;
}

/** Counts the characters of a pattern, and adds an issue if all patterns together exceed the limit. */
function countPattern(tally: Tally, condition: Condition): void {
  if (!hasPattern(condition)) return;
  const { patternCharacters: before, maxPatternCharacters: most } = tally;
  tally.patternCharacters += countCharacters(condition.value);
  if (before > most || tally.patternCharacters <= most) return;
  const sum = `the patterns have ${tally.patternCharacters} characters up to here`;
  const limit = `expected at most ${most} in all patterns of a request`;
  report(tally.findings, under(condition.path, "value"), `${sum}, ${limit}`);
}

/** Counts percent signs in a row once, since they cost as much as one. */
function countCharacters(pattern: string): number {
  let count = pattern.length;
  // A loop, since a regular expression over a million of them would hold up other requests.
  for (let at = 1; at < pattern.length; at++) {
    if (pattern[at - 1] === "\\") at++;
    else if (pattern[at] === "%" && pattern[at - 1] === "%") count--;
  }
  return count;
}

/** Reports whether an object is a group: by the presence of a key, whatever its value. */
function isGroup(input: Readonly<Record<string, unknown>>): boolean {
  return Object.hasOwn(input, "and") || Object.hasOwn(input, "or");
}

function isCondition(input: Readonly<Record<string, unknown>>): boolean {
  return CONDITION_KEYS.some((key) => Object.hasOwn(input, key));
}

function describeKeys(input: Readonly<Record<string, unknown>>): string {
  const keys = Object.keys(input);
  if (keys.length === 0) return "an empty object";
  const shown = keys.slice(0, 3).map(quote).join(", ");
  return `an object with ${keys.length === 1 ? "the key" : "the keys"} ${shown}` +
    (keys.length > 3 ? ", …" : "");
}

/**
 * Counts what `contains` looks for, and adds an issue if all of a request together exceed the limit:
 * Postgres compares each item with every stored one, and cannot be interrupted meanwhile.
 * @see Q108
 */
function countContained(
  tally: Tally,
  { path, value }: Extract<Condition, { readonly op: "contains" }>,
): void {
  const before = tally.containedItems;
  tally.containedItems += Math.max(1, countItems(value));
  if (before > MAX_CONTAINED_ITEMS || tally.containedItems <= MAX_CONTAINED_ITEMS) return;
  const limit = `expected at most ${MAX_CONTAINED_ITEMS} in all conditions of a request`;
  report(tally.findings, under(path, "value"), `contains has too many items up to here, ${limit}`);
}

/** Counts the items within an array or object, up to some more than the limit. */
function countItems(value: Json): number {
  let count = 0;
  const rest: Json[] = [value];
  while (rest.length > 0 && count <= MAX_CONTAINED_ITEMS) {
    const part = rest.pop()!;
    if (typeof part !== "object" || part === null) continue;
    const items = Array.isArray(part) ? part : Object.values(part);
    count += items.length;
    if (count <= MAX_CONTAINED_ITEMS) rest.push(...items);
  }
  return count;
}
