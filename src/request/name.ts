import * as v from "valibot";
import { quote } from "../errors/issue.ts";
import { NAME_PATTERN } from "../errors/limits.ts";

/**
 * A column's name as a client writes it, whether or not there is such a column.
 * @see N2
 */
export const NAME = v.pipe(
  v.string((issue) => `${quote(issue.input)} is not a name, expected a column's name as a string`),
  v.check(isName, (issue) => describeBadName(issue.input)),
);

/** Tells whether a text may be the name of a table or a column. @see N1, N2 */
export function isName(text: string): boolean {
  return NAME_PATTERN.test(text);
}

/** Says what is wrong with a name outside the pattern. @see E18 */
export function describeBadName(name: string): string {
  return `${quote(name)} is not a valid name, expected letters, digits and underscores only`;
}
