const MARKS = /[^\w\s:.,/+-]/;
const MOMENT_OR_MARKS = /^\d{4}-\d\d-\d\d[T ]\d|[^\w\s:.,/+-]/;

/** Hostile texts of which Postgres drops a part, by the type as `regtype` prints it. */
export const DROPPED: Readonly<Record<string, RegExp>> = {
  date: MOMENT_OR_MARKS,
  "time without time zone": MOMENT_OR_MARKS,
  "time with time zone": MOMENT_OR_MARKS,
  "timestamp without time zone": MARKS,
  "timestamp with time zone": MARKS,
  interval: MARKS,
  money: /^\D*$|\d,\d(?!\d\d)/,
  xid8: /^(?!\d+$)/,
};
