import { type Issue, pathOf, quote, under } from "../errors/issue.ts";
import { MAX_LIST_ITEMS, MAX_REPORTED_ISSUES } from "../errors/limits.ts";
import { isObject, type Json, type Scalar } from "../json/json.ts";
import { NO_SOURCE, type SourceText } from "../json/source_text.ts";
import { check, type Findings, isFull, rejectFindings, report } from "./findings.ts";
import { describeBadBody, describeBadName, isName, reportUnknownKey } from "./names.ts";
import { SCALAR } from "./operators.ts";

/**
 * An update whose shape is valid; its names and values are not checked yet.
 * @see docs/specification/updates.md
 */
export interface UpdateRequest {
  /** Name and value of each equality, in document order; at least one. */
  readonly filters: readonly (readonly [field: string, value: Scalar])[];
  /** Name and new value of each field, in document order; at least one. */
  readonly fields: readonly (readonly [field: string, value: Json])[];
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
): UpdateRequest {
  const findings: Findings = { issues: [] };
  const entries = new Map<string, readonly (readonly [string, unknown])[]>();
  if (!isObject(document)) report(findings, null, describeBadBody(document));
  for (const key of isObject(document) ? Object.keys(document) : []) {
    if (isFull(findings)) break;
    const value = (document as Record<string, unknown>)[key];
    if (key === "filters" || key === "fields") {
      entries.set(key, parseEntries(findings, value, { member: key }));
    } else reportUnknownKey(findings, key, { path: null, known: MEMBERS });
  }
  for (const member of isObject(document) ? MEMBERS : []) {
    if (entries.has(member)) continue;
    report(findings, pathOf(member), `${member} is required, expected ${EXPECTED[member]}`);
  }
  rejectFindings(findings, { parser: issuesOfParser, document });
  return {
    filters: entries.get("filters"),
    fields: entries.get("fields"),
    document,
    source,
  } as UpdateRequest;
}

function parseEntries(
  findings: Findings,
  input: unknown,
  { member }: { readonly member: "filters" | "fields" },
): readonly (readonly [string, unknown])[] {
  const entries: [string, unknown][] = [];
  const holder = pathOf(member);
  if (!isObject(input)) {
    report(findings, holder, `${quote(input)} is not an object, expected ${EXPECTED[member]}`);
    return entries;
  }
  const names = Object.keys(input);
  // Of so many names at least five are unknown, whatever the table; no more are reported.
  for (const name of names.slice(0, MAX_LIST_ITEMS + MAX_REPORTED_ISSUES)) {
    if (isFull(findings)) return entries;
    const path = under(holder, name);
    if (!isName(name)) report(findings, path, describeBadName(name));
    else if (member === "fields") entries.push([name, input[name]]);
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
