import { type Path, quote, under } from "../errors/issue.ts";
import { nearest } from "../text/nearest.ts";
import { type Findings, report } from "./findings.ts";

/**
 * Adds the finding about a key of the object at `path` that is not known, and gives the key that was
 * probably meant.
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

/** Says that a body is JSON, but no object. @see Q1, HT10 */
export function describeBadBody(document: unknown): string {
  return `${quote(document)} is not an object, expected a JSON object`;
}
