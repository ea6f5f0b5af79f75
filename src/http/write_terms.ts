import { ApiError } from "../basics/errors/api_error.ts";
import { pathOf, printPath, quote } from "../basics/errors/issue.ts";
import { type HeaderItem, parseHeaderList } from "./header_list.ts";
import { KNOWN_PREFERENCES, type PreferenceKind } from "./preferences.ts";

/** A header by which clients of some API change what a write does. */
interface Refused {
  /** Matches the name in small letters, with hyphens where some clients write underscores. */
  readonly name: RegExp;
  /** Left out: every value is refused. */
  readonly value?: RegExp;
  /** Completes "expected …". */
  readonly expected: string;
}

const IN_BODY = "what the row must hold in the filters of the body";
const OWN_ACCESS = "a token of that account";
const NONE = "no such header";

/**
 * Headers that no write obeys. They are refused, so that nothing that changes the meaning of a write is
 * dropped. Those that may be dropped are listed with the reason in docs/specification/http.md.
 * @see H29
 */
const REFUSED_HEADERS: readonly Refused[] = [
  // If-Match and its kin, of RFC 9110, of WebDAV and of vendors (x-goog-if-generation-match).
  { name: /(^|-)if(-|$)/, expected: IN_BODY },
  { name: /^(content-range|range|range-unit)$/, expected: "the whole body and no range of rows" },
  { name: /^expect$/, value: /^(?!100-continue$)/i, expected: "100-continue" },
  // PostgREST: another schema; exactly one row, or only a plan.
  { name: /^(content|accept)-profile$/, expected: "the name of the table in the path" },
  { name: /^accept$/, value: /vnd\.pgrst\./i, expected: "application/json" },
  { name: /(^|-)(dry-?run|validate-only)(-|$)/, expected: '"Prefer: tx=rollback" on an update' },
  { name: /^(odata-)?isolation$/, expected: NONE },
  // The client believes that it can repeat the request.
  {
    name: /^(?!idempotency-key$).*idempoten|^repeatability-|^paypal-request-id$/,
    expected: '"Idempotency-Key" on an update',
  },
  // Who acts: with the rights of another user, or on the account of another customer.
  { name: /^(x-)?impersonate-|^sudo$|^stripe-account$|^xero-tenant-id$/, expected: OWN_ACCESS },
  { name: /^x-mcp-(readonly|tools|toolsets)$/, expected: "a token with fewer scopes" },
  // What plugins, rules, roles and upserts of one product do.
  { name: /^(mscrm|sforce-|x-hasura-|x-parse-|x-ms-documentdb-)|^callerobjectid$/, expected: NONE },
];

/**
 * Preferences that change what a write does in this service or in another API, with the values that do;
 * undefined: all of them. An operation obeys some, and refuses the others.
 * @see U48, H29
 */
const CHANGING_PREFERENCES: ReadonlyMap<string, readonly string[] | undefined> = new Map([
  ["max-affected", undefined],
  ["tx", undefined],
  ["return", ["representation"]],
  ["on-error", undefined],
  ["continue-on-error", undefined],
  ["odata.continue-on-error", undefined],
  // PostgREST: upserts, defaults, functions, exactly one row, and how times without a zone are read.
  ["resolution", undefined],
  ["missing", undefined],
  ["params", undefined],
  ["plurality", undefined],
  ["timezone", undefined],
  ["dry-run", undefined],
  ["validate-only", undefined],
  ["rollback", undefined],
]);

const QUOTED = /"(?:[^"\\]|\\.)*"/g;
/** A name of RFC 9110; an item of `Prefer` without one is not a preference. */
const TOKEN = /^[!#$%&'*+.^_`|~0-9a-z-]+$/i;

/** What an operation obeys of the headers of a request. */
export interface ObeyedTerms {
  readonly obeying: PreferenceKind;
  /** True: `If-Match` too. */
  readonly obeysIfMatch?: boolean;
}

/**
 * Refuses what a write would have to drop of its headers and its query string. Every operation that
 * writes calls it, with what it obeys.
 * @throws {ApiError} 400 naming the header, the preference or the parameter
 * @see H29, H30, H31, IK4
 */
export function refuseDroppedTerms(
  request: Request,
  { obeying, obeysIfMatch }: ObeyedTerms,
): void {
  for (const [header, value] of request.headers) {
    if (header === "prefer") refusePreferences(value, obeying);
    else if (header !== "if-match" || !obeysIfMatch) refuseHeader(header, value);
  }
  if (!KEEPING.has(obeying) && request.headers.has("idempotency-key")) {
    throw new ApiError(
      400,
      "Idempotency-Key: no answer of this operation is kept, expected no key",
    );
  }
  refuseParameters(request.url);
}

/** The kinds of operations whose answer is kept under an `Idempotency-Key`. */
const KEEPING: ReadonlySet<PreferenceKind> = new Set([
  ...([
    "update",
    "updateSingle",
    "updateBatch",
    "create",
    "upsert",
    "delete",
    "deleteSingle",
  ] as const),
]);

function refuseHeader(header: string, value: string): void {
  const name = header.replaceAll("_", "-");
  const refused = REFUSED_HEADERS.find((each) =>
    (each.name.test(header) || each.name.test(name)) && (each.value?.test(value) ?? true)
  );
  if (refused === undefined) return;
  const wrong = `${quote(value)} is not supported where records are written`;
  throw new ApiError(400, `${spell(header)}: ${wrong}, expected ${refused.expected}`);
}

/** Spells the name of a header as messages do; the runtime gives it in small letters. */
function spell(header: string): string {
  return quote(header.replace(/(^|-)[a-z]/g, (start) => start.toUpperCase())).slice(1, -1);
}

function refusePreferences(header: string, obeying: PreferenceKind): void {
  if (header.replaceAll(QUOTED, "").includes('"')) {
    throw new ApiError(400, `Prefer: ${quote(header)} has a quote without its pair, expected both`);
  }
  for (const item of parseHeaderList(header)) {
    const name = item.name.toLowerCase();
    if (!TOKEN.test(name)) throw refusePreference(item, "expected a name, or name=value");
    const isHandling = name === "handling" && /^(strict|lenient)$/i.test(item.value);
    if (name === "handling" && !isHandling) {
      throw refusePreference(item, "expected handling=strict or handling=lenient");
    }
    const obeyed: readonly string[] = KNOWN_PREFERENCES[obeying];
    if (changesWrite(name, item.value) && !obeyed.includes(name)) {
      const others = obeyed.length === 0 ? "no preference" : obeyed.join(" or ");
      throw refusePreference(item, `expected ${others}`);
    }
    // A semicolon in place of a comma makes a preference a parameter of the one before it.
    const parameter = [...item.parameters].find((each) => changesWrite(...each));
    if (parameter === undefined) continue;
    const wrong = `${quote(parameter[0])} is a parameter of ${quote(item.name)}`;
    throw new ApiError(400, `Prefer: ${wrong}, expected a comma between preferences`);
  }
}

function changesWrite(name: string, value: string): boolean {
  if (!CHANGING_PREFERENCES.has(name)) return false;
  return CHANGING_PREFERENCES.get(name)?.includes(value.toLowerCase()) ?? true;
}

function refusePreference({ name, value }: HeaderItem, expected: string): ApiError {
  const shown = quote(value === "" ? name : `${name}=${value}`);
  return new ApiError(400, `Prefer: ${shown} is not supported here, ${expected}`);
}

function refuseParameters(url: string): void {
  const start = url.indexOf("?");
  if (start < 0) return;
  const [name] = new URLSearchParams(url.slice(start)).keys();
  if (name === undefined) return;
  const wrong = `${quote(name)} is not a parameter of this operation`;
  throw new ApiError(400, `${printPath(pathOf(name))}: ${wrong}, expected none`);
}

/** Headers and their values by which a client asks for another method than that of its request. */
const OVERRIDE = /^x-(http-)?method(-override)?$/;

/**
 * Refuses a request whose headers ask for another method than its request line has, on every path: it
 * would do something else than its client believes.
 * @throws {ApiError} 400 naming the header
 * @see H32
 */
export function refuseMethodOverride({ headers, method }: Request): void {
  for (const [header, value] of headers) {
    if (!header.startsWith("x") || !OVERRIDE.test(header.replaceAll("_", "-"))) continue;
    if (value.trim().toUpperCase() === method) continue;
    const wrong = `${quote(value)} is not the method of the request`;
    throw new ApiError(400, `${spell(header)}: ${wrong}, expected ${method} or no such header`);
  }
}
