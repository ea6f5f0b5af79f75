import type { Column } from "../../catalogue/catalogue.ts";
import type { Value } from "../plan/predicate.ts";
import { checkTime, type TimeType } from "../plan/time_text.ts";
import { rewriteElements } from "../../basics/text/array_text.ts";

/**
 * Returns a text for a value that means the same in every session. The time zone of a session is UTC,
 * but that of the database while an update runs. So a part of a `timestamptz` or `timetz` without a
 * zone gets UTC, and words such as `today` become dates in the zone of the column.
 * @see V12, V23
 */
export function settleTime(value: Pick<Value, "text" | "bare">, column: Column): string {
  const { text, bare } = value;
  const { timeZone, kind, baseType } = column;
  const zone = bare ? "UTC" : timeZone;
  if (zone === undefined || !bare && (zone === "UTC" || !WORDS.test(text))) return text;
  const type = baseType.replace(/\[\]$/, "");
  const bound = BOUNDS.get(type);
  const settle = (part: string) => settlePart(part, bound ?? type as TimeType, zone);
  if (kind === "array") return rewriteElements(text, "{},", settle);
  return bound === undefined ? settle(text) : rewriteElements(text, "{}[](),", settle);
}

const WORDS = /now|today|tomorrow|yesterday/i;

const BOUNDS: ReadonlyMap<string, TimeType> = new Map([
  ["daterange", "date"],
  ["datemultirange", "date"],
  ["tsrange", "timestamp"],
  ["tsmultirange", "timestamp"],
  ["tstzrange", "timestamptz"],
  ["tstzmultirange", "timestamptz"],
]);

const DAYS: ReadonlyMap<string, number> = new Map([["yesterday", -1], ["today", 0], [
  "tomorrow",
  1,
]]);
const DAY_MS = 86_400_000;

function settlePart(text: string, type: TimeType, zone: string): string {
  if (type === "timestamptz" || type === "timetz") {
    const checked = checkTime(text, type);
    return "text" in checked && checked.bare ? `${settleDay(text, "UTC")} UTC` : text;
  }
  return /^\s*now\s*$/i.test(text) ? settleNow(text, type, zone) : settleDay(text, zone);
}

function settleDay(text: string, zone: string): string {
  return text.replace(
    /^\s*(yesterday|today|tomorrow)/i,
    (word) => nowIn(zone, DAYS.get(word.trim().toLowerCase())! * DAY_MS)?.slice(0, 10) ?? word,
  );
}

function settleNow(text: string, type: TimeType, zone: string): string {
  const now = nowIn(zone, 0);
  if (now === undefined) return text;
  if (type === "date") return now.slice(0, 10);
  return type === "time" ? now.slice(11) : now;
}

/** `2026-01-31 12:34:56.789`; undefined in a zone that only Postgres knows. */
function nowIn(zone: string, laterMs: number): string | undefined {
  try {
    return new Intl.DateTimeFormat("sv-SE", {
      timeZone: zone,
      ...{ year: "numeric", month: "2-digit", day: "2-digit" },
      ...{ hour: "2-digit", minute: "2-digit", second: "2-digit", fractionalSecondDigits: 3 },
    }).format(Date.now() + laterMs).replace(",", ".");
  } catch {
    return undefined;
  }
}
