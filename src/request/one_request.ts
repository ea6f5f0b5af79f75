import { pathOf, quote, under } from "../basics/errors/issue.ts";
import { MAX_LIST_ITEMS } from "../basics/errors/limits.ts";
import type { Scalar } from "../basics/json/json.ts";
import { NO_SOURCE, type SourceText } from "../basics/json/source_text.ts";
import { check, type Findings, isFull, rejectFindings, report } from "./findings.ts";
import { describeBadName, isName, NAME } from "./names.ts";
import { describeLongList } from "./sort.ts";

/** The query string of a request for one record; names and values are not checked yet. */
export interface OneRequest {
  /** Name and value of each equality, in order; at least one. */
  readonly filters: readonly (readonly [field: string, value: Scalar])[];
  /** Empty: all columns. */
  readonly select: readonly string[];
  /** The parameters, for the order of issues. */
  readonly document: unknown;
  readonly source: SourceText;
}

const SELECT = "select";
const EXPECTED = "expected at least one column and the value that it must equal, such as ?id=1";

/**
 * Parses the query string of a request for one record. A parameter is the column that it names;
 * `select` lists columns, unless one has that name.
 * @throws {ApiError} 400 at each parameter that is given twice, has no value or no possible name
 * @see OR2, OR3, OR4, OR5
 */
export function parseOneRequest(
  url: string,
  { hasSelect }: { readonly hasSelect: boolean },
): OneRequest {
  const findings: Findings = { issues: [] };
  const document: Record<string, string> = Object.create(null);
  const filters: (readonly [string, Scalar])[] = [];
  let select: readonly string[] = [];
  const start = url.indexOf("?");
  const parts = start < 0 ? [] : url.slice(start + 1).split("#", 1)[0]!.split("&").filter(Boolean);
  const seen = new Set<string>();
  for (const part of parts) {
    if (isFull(findings)) break;
    const equals = part.indexOf("=");
    const name = decode(equals < 0 ? part : part.slice(0, equals));
    const value = equals < 0 ? undefined : decode(part.slice(equals + 1));
    const path = pathOf(name ?? part);
    if (name === undefined) report(findings, path, `${quote(part)} is not percent-encoded UTF-8`);
    else if (seen.has(name)) report(findings, path, "It is given more than once, expected it once");
    else if (value === undefined) {
      const wrong = equals < 0 ? "It has no value" : "Its value is not percent-encoded UTF-8";
      report(findings, path, `${wrong}, expected ${quote(`${name}=value`)}`);
    } else if (name === SELECT && !hasSelect) select = parseNames(findings, value);
    else if (!isName(name)) report(findings, path, describeBadName(name));
    else if (value.includes("\0")) {
      report(
        findings,
        path,
        "the string holds the character U+0000, expected text that Postgres can hold",
      );
    } else filters.push([name, value]);
    seen.add(name ?? part);
    document[name ?? part] = value ?? "";
  }
  if (filters.length === 0) report(findings, pathOf("filters"), `filters is required, ${EXPECTED}`);
  rejectFindings(findings, { parser: [], document });
  return { filters, select, document, source: NO_SOURCE };
}

/** Decodes a part of a query string, in which a plus is a space; undefined where that is impossible. */
function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return undefined;
  }
}

function parseNames(findings: Findings, text: string): readonly string[] {
  if (text === "") return [];
  const names = text.split(",");
  if (names.length > MAX_LIST_ITEMS) {
    report(findings, pathOf(SELECT), describeLongList(names, "names"));
    return [];
  }
  return names.flatMap((value, place) =>
    check(findings, NAME, { value, path: under(pathOf(SELECT), place) }) ?? []
  );
}
