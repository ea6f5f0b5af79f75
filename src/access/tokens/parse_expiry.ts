/**
 * The expiry of a new token, from the command line: never, some time from now by the database's
 * clock, or a given time. Whether a token has expired is checked by `hasEnded` in token_record.ts.
 */
export type Expiry =
  | { readonly kind: "never" }
  | { readonly kind: "after"; readonly seconds: number }
  | { readonly kind: "at"; readonly time: string };

const SECONDS_BY_UNIT: ReadonlyMap<string, number> = new Map([
  ["m", 60],
  ["h", 3600],
  ["d", 86_400],
  ["w", 604_800],
  ["y", 31_536_000],
]);
/** A hundred years. */
const MAX_SECONDS = 3_153_600_000;

/**
 * Parses `90d`, `12h`, `2027-01-31` (the first moment of that day in UTC), `2027-01-31T12:00:00Z` or
 * `never`; undefined for anything else.
 * @see A16
 */
export function parseExpiry(text: string): Expiry | undefined {
  if (text === "never") return { kind: "never" };
  const seconds = parseDuration(text);
  if (seconds !== undefined) return seconds > 0 ? { kind: "after", seconds } : undefined;
  const day = /^(\d{4}-\d{2}-\d{2})(T\d{2}:\d{2}(:\d{2})?(Z|[+-]\d{2}:\d{2}))?$/.exec(text);
  if (day === null) return undefined;
  const midnight = new Date(`${day[1]}T00:00:00Z`);
  // The 31st of a month of 30 days would become the 1st of the next.
  if (!isDate(midnight) || midnight.toISOString().slice(0, 10) !== day[1]) return undefined;
  const time = day[2] === undefined ? midnight : new Date(text);
  return isDate(time) ? { kind: "at", time: time.toISOString() } : undefined;
}

/** Parses `24h`, `90d`, `30m`, `2w`, `1y` or `0` to seconds, a hundred years at most. */
export function parseDuration(text: string): number | undefined {
  if (text === "0") return 0;
  const parts = /^(\d{1,9})([a-z])$/.exec(text);
  const unit = SECONDS_BY_UNIT.get(parts?.[2] ?? "");
  if (unit === undefined) return undefined;
  const seconds = Number(parts?.[1]) * unit;
  return seconds <= MAX_SECONDS ? seconds : undefined;
}

function isDate(date: Date): boolean {
  return !Number.isNaN(date.getTime());
}
