import * as v from "valibot";
import { isObject } from "../basics/json/json.ts";
import { type Issue, pathOf, quote, under } from "../basics/errors/issue.ts";
import {
  DEFAULT_ROWS_PER_PAGE,
  MAX_LIST_ITEMS,
  MAX_PATTERN_CHARACTERS,
  MAX_ROWS_PER_PAGE,
} from "../basics/errors/limits.ts";
import { NO_SOURCE, type SourceText } from "../basics/json/source_text.ts";
import { type Group, parseFilters } from "./filters.ts";
import { check, type Findings, isFull, rejectFindings, report } from "./findings.ts";
import { describeBadBody, NAME, reportUnknownKey } from "./names.ts";
import { describeLongList, parseSort, type SortItem } from "./sort.ts";

/**
 * A query whose shape is valid; its names and values are not checked yet.
 * @see docs/specification/query.md
 */
export interface QueryRequest {
  readonly filters: Group | undefined;
  /** Empty: all columns. */
  readonly select: readonly string[];
  readonly sort: readonly SortItem[];
  /** From 1. */
  readonly page: number;
  /** Rows per page in effect, 1 to 200. */
  readonly perPage: number;
  /** The parsed body, for the order of later issues. */
  readonly document: unknown;
  /** Its text. */
  readonly source: SourceText;
}

/** The number of a page, from 1. @see Q70 */
export const PAGE = v.custom<number>(isCount, ({ input }) => {
  // A larger number may have been rounded by the client already.
  const beyond = typeof input === "number" && input > Number.MAX_SAFE_INTEGER;
  const range = beyond ? `up to ${Number.MAX_SAFE_INTEGER}` : "from 1";
  return `${quote(input)} is not a page, expected a whole number ${range}`;
});

/** Rows per page, from 1; a value above the cap is valid. @see Q76, Q78 */
export const PER_PAGE = v.custom<number>(
  isCount,
  (issue) => `${quote(issue.input)} is not a number of rows, expected a whole number from 1 to 200`,
);

/** How a query is parsed. */
export interface ParseQueryOptions {
  /** Characters of all patterns of a request. */
  readonly maxPatternCharacters?: number;
  /** The text of the request. */
  readonly source?: SourceText;
  /** True: it is an export, which has no pages. */
  readonly exported?: boolean;
}

const KEYS = ["filters", "select", "sort", "page", "per_page"];
const PAGE_KEYS: ReadonlySet<string> = new Set(["page", "per_page"]);
const SELECT = pathOf("select");

/**
 * Checks the shape of the body of Query Records; the plan checks names and values. Caps `per_page`.
 * @throws {ApiError} 400 with at most five issues, including those of the JSON parser
 * @see Q1, Q3, Q4, EX5
 */
export function parseQueryRequest(
  document: unknown,
  issuesOfParser: readonly Issue[] = [],
  options: ParseQueryOptions = {},
): QueryRequest {
  const { maxPatternCharacters = MAX_PATTERN_CHARACTERS, source = NO_SOURCE } = options;
  const findings: Findings = { issues: [] };
  const request = {
    filters: undefined as Group | undefined,
    select: [] as readonly string[],
    sort: [] as readonly SortItem[],
    page: 1,
    perPage: DEFAULT_ROWS_PER_PAGE,
  };
  if (!isObject(document)) report(findings, null, describeBadBody(document));
  for (const key of isObject(document) ? Object.keys(document) : []) {
    if (isFull(findings)) break;
    const value = (document as Record<string, unknown>)[key];
    if (options.exported && PAGE_KEYS.has(key)) {
      const message = `An export has every row that matches, expected no ${key}`;
      report(findings, pathOf(key), message);
    } else if (key === "filters") {
      request.filters = parseFilters(findings, value, { maxPatternCharacters });
    } else if (key === "select") request.select = parseSelect(findings, value);
    else if (key === "sort") request.sort = parseSort(findings, value);
    else if (key === "page") {
      request.page = check(findings, PAGE, { value, path: pathOf(key) }) ?? 1;
    } else if (key === "per_page") {
      const rows = check(findings, PER_PAGE, { value, path: pathOf(key) }) ?? 1;
      request.perPage = Math.min(rows, MAX_ROWS_PER_PAGE);
    } else reportUnknownKey(findings, key, { path: null, known: KEYS });
  }
  rejectFindings(findings, { parser: issuesOfParser, document });
  return { document, source, ...request };
}

function parseSelect(findings: Findings, input: unknown): readonly string[] {
  const names: string[] = [];
  if (!Array.isArray(input)) {
    report(findings, SELECT, `${quote(input)} is not an array, expected an array of names`);
    return [];
  }
  if (input.length > MAX_LIST_ITEMS) {
    report(findings, SELECT, describeLongList(input, "names"));
    return [];
  }
  for (let index = 0; index < input.length && !isFull(findings); index++) {
    const name = check(findings, NAME, { value: input[index], path: under(SELECT, index) });
    if (name !== undefined) names.push(name);
  }
  return names;
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 1;
}
