import { type Issue, type Path, quote, under } from "../basics/errors/issue.ts";
import { MAX_LIST_ITEMS, MAX_REPORTED_ISSUES } from "../basics/errors/limits.ts";
import { isObject, type Json, type Scalar } from "../basics/json/json.ts";
import { NO_SOURCE, type SourceText } from "../basics/json/source_text.ts";
import { check, type Findings, isFull, rejectFindings, report } from "./findings.ts";
import { describeBadBody, describeBadName, isName, reportUnknownKey } from "./names.ts";
import { SCALAR } from "./operators.ts";

/**
 * An update whose shape is valid; its names and values are not checked yet.
 * @see docs/specification/updates.md
 */
export interface UpdateRequest {
  /** Path of the update in the body: null at the top, or its place in a batch. */
  readonly path: Path;
  /** Name and value of each equality, in document order; at least one. */
  readonly filters: readonly (readonly [field: string, value: Scalar])[];
  /** Name and new value of each field, in document order; at least one. */
  readonly fields: readonly (readonly [field: string, value: Json])[];
}

/** An update that is a body of its own. */
export interface UpdateBody extends UpdateRequest {
  /** The parsed body, for the order of issues and for the `fields` of the response. */
  readonly document: { readonly filters: object; readonly fields: object };
  /** The text of the document. */
  readonly source: SourceText;
}

const MEMBERS = ["filters", "fields"] as const;
const EXPECTED = {
  filters: "an object with at least one entry: the column and the value it must equal",
  fields: "an object with at least one entry: the column and its new value",
};

/**
 * Checks the shape of the body of an update; the plan checks names and values. Walked by hand, because
 * valibot's `record` drops the key `constructor`, and a dropped filter would widen an update.
 * @throws {ApiError} 400 with at most five issues, including those of the JSON parser
 * @see docs/specification/updates.md#the-shape-of-the-body
 */
export function parseUpdateRequest(
  document: unknown,
  issuesOfParser: readonly Issue[] = [],
  source: SourceText = NO_SOURCE,
): UpdateBody {
  const findings: Findings = { issues: [] };
  const update = parseUpdate(findings, document, null);
  rejectFindings(findings, { parser: issuesOfParser, document });
  return { document, source, ...update } as UpdateBody;
}

/**
 * Checks the shape of the body of a delete, which is that of an update without `fields`.
 * @throws {ApiError} 400 with at most five issues, including those of the JSON parser
 * @see DE1
 */
export function parseDeleteRequest(
  document: unknown,
  issuesOfParser: readonly Issue[] = [],
  source: SourceText = NO_SOURCE,
): UpdateBody {
  const findings: Findings = { issues: [] };
  const found = parseMembers(findings, document, { path: null, members: ["filters"] });
  rejectFindings(findings, { parser: issuesOfParser, document });
  return { document, source, ...found, fields: [] } as UpdateBody;
}

/** Checks the shape of an update at a path. The result is valid only if no issue was found. */
export function parseUpdate(findings: Findings, input: unknown, path: Path): UpdateRequest {
  return parseMembers(findings, input, { path, members: MEMBERS });
}

function parseMembers(
  findings: Findings,
  input: unknown,
  { path, members }: {
    readonly path: Path;
    readonly members: readonly (typeof MEMBERS)[number][];
  },
): UpdateRequest {
  const entries = new Map<string, readonly (readonly [string, unknown])[]>();
  const keys = isObject(input) ? Object.keys(input) : [];
  if (!isObject(input)) report(findings, path, describeBadUpdate(input, path));
  for (const key of keys) {
    if (isFull(findings)) break;
    const value = (input as Record<string, unknown>)[key];
    const member = members.find((each) => each === key);
    if (member === undefined) reportUnknownKey(findings, key, { path, known: members });
    else entries.set(key, parseEntries(findings, value, { member, holder: under(path, key) }));
  }
  for (const member of isObject(input) ? members : []) {
    if (entries.has(member)) continue;
    report(findings, under(path, member), `${member} is required, expected ${EXPECTED[member]}`);
  }
  return { path, filters: entries.get("filters"), fields: entries.get("fields") } as UpdateRequest;
}

function describeBadUpdate(input: unknown, path: Path): string {
  if (path === null) return describeBadBody(input);
  return `${quote(input)} is not an update, expected an object with filters and fields`;
}

const NO_GROUPS =
  "filters of an update or a delete take no groups, expected the columns and the values that they " +
  'must equal, such as {"id": 1}; find the rows by a query with the group first';

/** Reports whether an entry is the group of a query's filters: no value is an array. */
function isGroup(name: string, value: unknown): boolean {
  return (name === "and" || name === "or") && Array.isArray(value);
}

function parseEntries(
  findings: Findings,
  input: unknown,
  { member, holder }: { readonly member: "filters" | "fields"; readonly holder: Path },
): readonly (readonly [string, unknown])[] {
  const entries: [string, unknown][] = [];
  if (!isObject(input)) {
    report(findings, holder, `${quote(input)} is not an object, expected ${EXPECTED[member]}`);
    return entries;
  }
  const names = Object.keys(input);
  // Of this many names at least five must be unknown, and no more are reported.
  for (const name of names.slice(0, MAX_LIST_ITEMS + MAX_REPORTED_ISSUES)) {
    if (isFull(findings)) return entries;
    const path = under(holder, name);
    if (!isName(name)) report(findings, path, describeBadName(name));
    else if (member === "fields") entries.push([name, input[name]]);
    else if (isGroup(name, input[name])) report(findings, path, NO_GROUPS);
    else {
      const value = check(findings, SCALAR, { value: input[name], path });
      if (value !== undefined) entries.push([name, value]);
    }
  }
  if (names.length === 0) {
    report(findings, holder, `${member} is empty, expected ${EXPECTED[member]}`);
  }
  return entries;
}
