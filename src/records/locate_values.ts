import type { Column, SqlText } from "../catalogue/catalogue.ts";
import { type Issue, quote } from "../basics/errors/issue.ts";
import { MAX_REPORTED_ISSUES } from "../basics/errors/limits.ts";
import type { Assignment } from "./plan/assignment.ts";
import { type Predicate, splitByZone, type Value } from "./plan/predicate.ts";
import { DatabaseError, isOfEncoding } from "../database/postgres/database_error.ts";
import type { FailureKind } from "../database/postgres/failure_kind.ts";
import { compileProbe, type Suspects } from "./sql/check_values.ts";
import type { Run } from "./run.ts";

/**
 * Kinds of error that a value may cause. A type of an extension may reject a value with any code, and
 * regclass uses the code of a missing table.
 */
const REJECTIONS: ReadonlySet<FailureKind> = new Set<FailureKind>(
  ["value", "check", "not_null", "stale", "too_complex", "raised", "failed"],
);

const TEXT = "text" as SqlText;
// deno-lint-ignore no-control-regex -- ASCII has them
const BEYOND_ASCII = /[^\u0000-\u007f]/;
/** Reports whether a value may have caused an error; a function that says why means something else. */
export function mayBeOfValue({ kind, raised }: DatabaseError): boolean {
  return REJECTIONS.has(kind) && raised === undefined;
}

/**
 * Finds the values that Postgres rejected, among those that only Postgres can check: they include every
 * text beyond ASCII if the error is one of encodings. It has Postgres cast them, a list first as a whole
 * and then in halves. Nothing is read or written. It stops at as many issues as a response reports.
 * @throws {DatabaseError} when the database fails meanwhile
 * @see E33, E53
 */
export async function locateValues(
  run: Run,
  plan: { predicate?: Predicate | undefined; assignments?: readonly Assignment[] },
  cause?: DatabaseError,
): Promise<Issue[]> {
  const isSuspect = cause !== undefined && isOfEncoding(cause)
    ? ({ certain, text }: Value) => !certain || BEYOND_ASCII.test(text)
    : ({ certain }: Value) => !certain;
  const suspects = [
    ...(plan.predicate === undefined ? [] : suspectsOf(plan.predicate)),
    ...(plan.assignments ?? []).map(({ column, value }) => ({
      column,
      cast: column.storedCast,
      values: value === null ? [] : [value],
    })),
  ];
  const issues: Issue[] = [];
  for (const { column, cast, values } of suspects) {
    for (const alike of splitByZone(values.filter(isSuspect))) {
      await locate(run, { column, cast, values: alike }, issues);
    }
  }
  return issues;
}

async function locate(run: Run, suspects: Suspects, issues: Issue[]): Promise<void> {
  const { column, cast, values } = suspects;
  if (values.length === 0 || issues.length >= MAX_REPORTED_ISSUES) return;
  const rejection = await probe(run, suspects);
  if (rejection === undefined) return;
  if (values.length === 1) {
    issues.push({ path: values[0]!.path, message: describe(values[0]!, column, rejection) });
    return;
  }
  const half = Math.ceil(values.length / 2);
  await locate(run, { column, cast, values: values.slice(0, half) }, issues);
  await locate(run, { column, cast, values: values.slice(half) }, issues);
}

/** Returns the error; undefined when Postgres accepts them all. */
async function probe(run: Run, suspects: Suspects): Promise<DatabaseError | undefined> {
  try {
    await run.database.run((sql) => compileProbe(sql, suspects), {
      write: false,
      ...run.requester,
    });
    return undefined;
  } catch (error) {
    if (error instanceof DatabaseError && mayBeOfValue(error)) return error;
    throw error;
  }
}

function describe(value: Value, column: Column, rejection: DatabaseError): string {
  if (isOfEncoding(rejection) && BEYOND_ASCII.test(value.text)) {
    return "The value has a character that the encoding of the database lacks, " +
      `expected one that column ${quote(column.name)} can hold`;
  }
  const fault = rejection.kind === "check" ? "breaks a rule of" : "does not fit";
  return `${quote(value.text)} ${fault} column ${quote(column.name)} of type ${column.type}, ` +
    `expected a value that Postgres takes as ${column.type}`;
}

function suspectsOf(predicate: Predicate): Suspects[] {
  switch (predicate.kind) {
    case "and":
    case "or":
      return predicate.items.flatMap(suspectsOf);
    case "compare":
      return [suspect(predicate.column, [predicate.value])];
    case "between":
      return [suspect(predicate.column, [predicate.low, predicate.high])];
    case "member":
      return [suspect(predicate.column, predicate.values)];
    case "contains":
      return [suspect(predicate.column, [predicate.value])];
    case "like": {
      const { column, pattern, path } = predicate;
      return [{ column, cast: TEXT, values: [{ text: pattern, certain: true, path }] }];
    }
    case "null":
      return [];
  }
}

function suspect(column: Column, values: readonly Value[]): Suspects {
  return { column, cast: column.cast, values };
}
