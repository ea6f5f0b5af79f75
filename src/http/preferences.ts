import { ApiError } from "../basics/errors/api_error.ts";
import { quote } from "../basics/errors/issue.ts";
import { nearest } from "../basics/text/nearest.ts";
import { type HeaderItem, parseHeaderList } from "./header_list.ts";
import type { Exchange } from "./respond.ts";

/** The preferences that a request asks for. @see docs/specification/updates.md#preferences */
export interface Preferences {
  /** False on `count=none`. For queries and exports; exports never count. */
  readonly count: boolean;
  /** True on `count=end`: the last line of an export is the number of its records. @see EX26 */
  readonly countAtEnd?: true;
  /** True on `page-token`; queries only. `Preference-Applied` names it once the page is read. */
  readonly pageToken: boolean;
  /** From `max-affected=N`; updates and deletes only. */
  readonly maxAffected: number | undefined;
  /** True on `tx=rollback`; writes only. */
  readonly rollback: boolean;
  /** True on `return=representation`: the response has the row; writes of one row, and batches. */
  readonly representation?: true;
  /** True on `on-error=continue`: a record that is refused does not undo the others. @see OE1 */
  readonly continues?: true;
  /** Value of the `Preference-Applied` header; undefined if none was applied. */
  readonly applied: string | undefined;
}

/**
 * The preferences of each kind of operation, besides `handling`. What a write does not know and must not
 * drop is refused before, by write_terms.ts.
 */
export const KNOWN_PREFERENCES = {
  query: ["count", "page-token"],
  export: ["count"],
  one: [],
  update: ["max-affected", "tx"],
  create: ["tx", "return", "on-error"],
  upsert: ["tx", "return", "on-error"],
  delete: ["max-affected", "tx"],
  deleteSingle: ["max-affected", "tx", "return"],
  updateSingle: ["max-affected", "tx", "return"],
  updateBatch: ["max-affected", "tx", "return", "on-error"],
  manage: [],
} as const;

/** A kind of operation, by its preferences. */
export type PreferenceKind = keyof typeof KNOWN_PREFERENCES;

const NONE: Preferences = {
  count: true,
  pageToken: false,
  maxAffected: undefined,
  rollback: false,
  applied: undefined,
};

/**
 * Parses the `Prefer` header for a kind of operation. Unknown preferences and those of other
 * operations are ignored. Of two with the same name, the first counts.
 * @throws {ApiError} 400 naming the preference: for a malformed `max-affected` or `tx`, since they
 * are safety limits and must not be ignored; for any unknown one under `handling=strict`
 * @see Q88, U44, U45, U48, U49
 */
export function parsePreferences(
  header: string | null,
  operation: PreferenceKind,
): Preferences {
  if (header === null) return NONE;
  const items = new Map<string, HeaderItem>();
  for (const item of parseHeaderList(header)) {
    const name = item.name.toLowerCase();
    if (!items.has(name)) items.set(name, item);
  }
  const known: readonly string[] = KNOWN_PREFERENCES[operation];
  const strict = items.get("handling")?.value.toLowerCase() === "strict";
  const applied: string[] = [];
  let preferences = NONE;
  for (const [name, { value }] of items) {
    const change = known.includes(name) ? readPreference(name, value, operation) : undefined;
    if (change !== undefined) preferences = { ...preferences, ...change };
    const honoured = change !== undefined || (name === "handling" && isHandling(value));
    if (change?.pageToken) continue;
    if (honoured) applied.push(`${name}=${value.toLowerCase()}`);
    else if (strict) throw rejectUnknown(name, { value, known: ["handling", ...known] });
  }
  return { ...preferences, applied: applied.length === 0 ? undefined : applied.join(", ") };
}

/**
 * Reads the preferences of a request, and records for its response which of them were applied.
 * @throws {ApiError} 400 as {@link parsePreferences}
 */
export function applyPreferences(
  { request, headers }: Exchange,
  operation: PreferenceKind,
): Preferences {
  const preferences = parsePreferences(request.headers.get("prefer"), operation);
  if (preferences.applied !== undefined) headers["preference-applied"] = preferences.applied;
  return preferences;
}

/** Records for the response of a request that a preference was applied. */
export function noteApplied({ headers }: Exchange, preference: string): void {
  const others = headers["preference-applied"];
  headers["preference-applied"] = others === undefined ? preference : `${others}, ${preference}`;
}

function readPreference(
  name: string,
  value: string,
  operation: PreferenceKind,
): Partial<Preferences> | undefined {
  if (name === "page-token") return value === "" ? { pageToken: true } : undefined;
  if (name === "count") {
    if (value.toLowerCase() === "none") return { count: false };
    const atEnd = operation === "export" && value.toLowerCase() === "end";
    return atEnd ? { count: false, countAtEnd: true } : undefined;
  }
  if (name === "return") {
    return value.toLowerCase() === "representation" ? { representation: true } : undefined;
  }
  if (name === "on-error") {
    if (value.toLowerCase() === "continue") return { continues: true };
    throw new ApiError(400, `Prefer: on-error is ${quote(value)}, expected on-error=continue`);
  }
  if (name === "tx") {
    if (value.toLowerCase() === "rollback") return { rollback: true };
    throw new ApiError(400, `Prefer: tx is ${quote(value)}, expected tx=rollback`);
  }
  if (/^[0-9]{1,15}$/.test(value)) return { maxAffected: Number(value) };
  const expected = "expected a whole number from 0, such as max-affected=10";
  throw new ApiError(400, `Prefer: max-affected is ${quote(value)}, ${expected}`);
}

function isHandling(value: string): boolean {
  return ["strict", "lenient"].includes(value.toLowerCase());
}

function rejectUnknown(
  name: string,
  { value, known }: { readonly value: string; readonly known: readonly string[] },
): ApiError {
  const shown = quote(value === "" ? name : `${name}=${value}`);
  const meant = nearest(name, known);
  const expected = meant === undefined || meant === name
    ? `expected one of ${known.map((one) => SPELT[one]).join(", ")}`
    : `did you mean ${quote(meant)}`;
  return new ApiError(400, `Prefer: ${shown} is not a preference of this operation, ${expected}`);
}

const SPELT: Readonly<Record<string, string>> = {
  "handling": "handling=strict",
  "count": "count=none",
  "page-token": "page-token",
  "max-affected": "max-affected=N",
  "tx": "tx=rollback",
  "return": "return=representation",
  "on-error": "on-error=continue",
};

/**
 * Reports whether 64-bit integers and `numeric` must be sent as strings, because the client's numbers
 * are doubles: `Accept: application/json;IEEE754Compatible=true`. Nothing else in `Accept` counts,
 * and nothing in it is rejected.
 * @see V21
 */
export function wantsWideNumbersAsText(accept: string | null): boolean {
  if (accept === null || !/ieee754compatible/i.test(accept)) return false;
  return parseHeaderList(accept).some(({ name, parameters }) =>
    name.toLowerCase() === "application/json" &&
    parameters.get("ieee754compatible")?.toLowerCase() === "true"
  );
}
