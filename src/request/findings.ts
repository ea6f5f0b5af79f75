import * as v from "valibot";
import { type Issue, type Path, printPath, rejectIssues, under } from "../errors/issue.ts";
import { MAX_REPORTED_ISSUES } from "../errors/limits.ts";

/**
 * Collects what is wrong with one document, in its order. Once `full`, the rest need not be looked
 * at: a body of 1 MiB has room for 500,000 faults, of which five are told.
 */
export interface Findings {
  readonly issues: Issue[];
}

/** Tells whether no further finding will be told. */
export function isFull(findings: Findings): boolean {
  return findings.issues.length >= MAX_REPORTED_ISSUES;
}

/** Adds a finding. */
export function report(findings: Findings, path: Path, message: string): void {
  if (!isFull(findings)) findings.issues.push({ path, message });
}

/**
 * Checks a value against a schema and gives the schema's output, or undefined after adding what
 * was wrong. Schemas are for values of bounded size; what can be long is walked by hand.
 * @see docs/decisions/0040-valibot-at-the-leaves.md
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
 * Throws when the shape or the parser found anything; of two findings at one path, that about the
 * shape is told.
 * @throws {ApiError} 400 with at most five findings in document order
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
