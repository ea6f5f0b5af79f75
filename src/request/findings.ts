import * as v from "valibot";
import { type Issue, type Path, printPath, rejectIssues, under } from "../basics/errors/issue.ts";
import { MAX_REPORTED_ISSUES } from "../basics/errors/limits.ts";

/**
 * The issues of a document, in its order. Once there are as many as a response reports, the rest need
 * not be checked: a body of 1 MiB can have 500,000 errors.
 */
export interface Findings {
  readonly issues: Issue[];
}

/** Reports whether there are as many issues as a response reports. */
export function isFull(findings: Findings): boolean {
  return findings.issues.length >= MAX_REPORTED_ISSUES;
}

/** Adds an issue. */
export function report(findings: Findings, path: Path, message: string): void {
  if (!isFull(findings)) findings.issues.push({ path, message });
}

/**
 * Checks a value against a schema and returns the schema's output; undefined, with issues, if it does
 * not match. Schemas are for values of bounded size; long ones are walked by hand.
 * @see docs/decisions/0007-bodies.md
 */
export function check<T>(
  findings: Findings,
  schema: v.GenericSchema<unknown, T>,
  { value, path }: { readonly value: unknown; readonly path: Path },
): T | undefined {
  const result = v.safeParse(schema, value);
  if (result.success) return result.output;
  for (const issue of result.issues) {
    const inner = issue.path?.map((step) => step.key as string | number) ?? [];
    report(findings, inner.reduce(under, path), issue.message);
  }
  return undefined;
}

/**
 * Throws if there are issues of the shape or of the JSON parser. Of two issues at one path, that of
 * the shape is reported.
 * @throws {ApiError} 400 with at most five issues in document order
 * @see E7
 */
export function rejectFindings(
  { issues }: Findings,
  { parser, document }: { readonly parser: readonly Issue[]; readonly document: unknown },
): void {
  if (issues.length === 0 && parser.length === 0) return;
  const byPath = new Map<string, Issue>();
  for (const issue of [...issues, ...parser]) {
    const key = printPath(issue.path);
    if (!byPath.has(key)) byPath.set(key, issue);
  }
  throw rejectIssues([...byPath.values()], document);
}
