const DATE = String.raw`(\d{4})-(\d\d)-(\d\d)`;
const TIME = String.raw`([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d{1,6})?)?`;
const ZONE = String.raw`(Z|[+-](0\d|1[0-4])(:?[0-5]\d)?)`;

const PLAIN = new Map<string, RegExp>([
  ["date", new RegExp(`^${DATE}$`)],
  ["timestamp", new RegExp(`^${DATE}[T ]${TIME}$`)],
  ["timestamptz", new RegExp(`^${DATE}[T ]${TIME}${ZONE}?$`)],
  ["time", new RegExp(`^${TIME}$`)],
]);

/**
 * True for the ISO 8601 form of a date or time that exists, which Postgres surely takes; false says
 * nothing: Postgres reads many more forms, and has the last word on them.
 */
export function isPlainTime(text: string, baseType: string): boolean {
  const match = PLAIN.get(baseType)?.exec(text);
  if (match === null || match === undefined) return false;
  return baseType === "time" || isCalendarDay(match[1]!, match[2]!, match[3]!);
}

function isCalendarDay(year: string, month: string, day: string): boolean {
  if (year === "0000") return false;
  const date = new Date(`${year}-${month}-${day}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.getUTCDate() === Number(day);
}
