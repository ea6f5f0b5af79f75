import * as v from "valibot";
import { type Path, quote, under } from "../basics/errors/issue.ts";
import { NAME_PATTERN } from "../basics/errors/limits.ts";
import { nearest } from "../basics/text/nearest.ts";
import { type Findings, report } from "./findings.ts";

/**
 * The name of a column, whether or not there is such a column.
 * @see N2
 */
export const NAME = v.pipe(
  v.string((issue) => `${quote(issue.input)} is not a name, expected a column's name as a string`),
  v.check(isName, (issue) => describeBadName(issue.input)),
);

/** Reports whether a text may be the name of a table or a column. @see N1, N2 */
export function isName(text: string): boolean {
  return NAME_PATTERN.test(text);
}

/** Says what is wrong with a name that does not match the pattern. @see E18 */
export function describeBadName(name: string): string {
  return `${quote(name)} is not a valid name, expected letters, digits and underscores only`;
}

/**
 * Reports an unknown key of the object at `path`, and returns the key that was probably meant.
 * @see E12
 */
export function reportUnknownKey(
  findings: Findings,
  key: string,
  { path, known }: { readonly path: Path; readonly known: readonly string[] },
): string | undefined {
  const meant = nearest(key, known);
  const expected = meant === undefined
    ? `expected ${known.length > 1 ? "one of " : ""}${known.join(", ")}`
    : `did you mean ${quote(meant)}`;
  report(findings, under(path, key), `${quote(key)} is not a known key, ${expected}`);
  return meant;
}

/** Says that a body is JSON, but not an object. @see Q1, HT10 */
export function describeBadBody(document: unknown): string {
  return `${quote(document)} is not an object, expected a JSON object`;
}
