import { ApiError } from "../basics/errors/api_error.ts";
import { pathOf, printPath, quote } from "../basics/errors/issue.ts";
import {
  DEFAULT_CHANGES,
  MAX_CHANGES,
  MAX_LIST_ITEMS,
  MAX_REPORTED_ISSUES,
  MAX_WAIT_SECONDS,
} from "../basics/errors/limits.ts";
import { nearest } from "../basics/text/nearest.ts";
import { describeBadName, isName } from "./names.ts";

/** The query string of a request for changes. */
export interface ChangesRequest {
  /** `start`, `now` or a cursor. */
  readonly since: string;
  readonly limit: number;
  readonly waitSeconds: number;
  /** Empty: all. */
  readonly fields: readonly string[];
}

const PARAMETERS = ["since", "limit", "wait", "fields"];

/**
 * Parses the query string of a request for changes.
 * @throws {ApiError} 400 naming each parameter that is unknown, given twice or wrong
 * @see CH5, CH6, CH7
 */
export function parseChangesRequest(url: string): ChangesRequest {
  const { searchParams } = new URL(url);
  const problems: string[] = [];
  for (const name of new Set(searchParams.keys())) {
    if (!PARAMETERS.includes(name)) problems.push(describeUnknown(name));
    else if (searchParams.getAll(name).length > 1) {
      problems.push(`${name}: It is given more than once, expected once`);
    }
  }
  const number = (name: string, { from, to, preset }: NumberRange): number => {
    const text = searchParams.get(name);
    if (text === null) return preset;
    const value = /^[0-9]{1,9}$/.test(text) ? Number(text) : NaN;
    if (value >= from && value <= to) return value;
    problems.push(
      `${name}: ${quote(text)} is not valid, expected a number from ${from} to ${to}`,
    );
    return preset;
  };
  const limit = number("limit", { from: 1, to: MAX_CHANGES, preset: DEFAULT_CHANGES });
  const waitSeconds = number("wait", { from: 0, to: MAX_WAIT_SECONDS, preset: 0 });
  const fields = parseFields(searchParams.get("fields") ?? "", problems);
  const since = searchParams.get("since") ?? "start";
  if (problems.length > 0) {
    throw new ApiError(400, problems.slice(0, MAX_REPORTED_ISSUES).join("; "));
  }
  return { since, limit, waitSeconds, fields };
}

interface NumberRange {
  readonly from: number;
  readonly to: number;
  readonly preset: number;
}

function describeUnknown(name: string): string {
  const meant = nearest(name, PARAMETERS);
  const expected = meant === undefined
    ? `expected one of ${PARAMETERS.join(", ")}`
    : `did you mean ${quote(meant)}`;
  return `${printPath(pathOf(name))}: ${
    quote(name)
  } is not a parameter of this operation, ${expected}`;
}

function parseFields(text: string, problems: string[]): readonly string[] {
  if (text === "") return [];
  const names = text.split(",").map((name) => name.trim());
  if (names.length > MAX_LIST_ITEMS) {
    problems.push(`fields: There are ${names.length} names, expected at most ${MAX_LIST_ITEMS}`);
    return [];
  }
  const bad = names.find((name) => !isName(name));
  if (bad !== undefined) problems.push(`fields: ${describeBadName(bad)}`);
  return bad === undefined ? names : [];
}
