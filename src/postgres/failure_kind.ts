/** The kinds of failure that the response distinguishes. @see P30 */
export type FailureKind =
  | "value" // 22xxx: a value of the wrong form or out of range
  | "not_null" // 23502
  | "check" // 23514
  | "conflict" // 23505 23503 23P01
  | "raised" // a trigger, view or generated column of your database raised an error
  | "outside" // a row, as written would not be within the client's reach
  | "stale" // 42703 42P01 42883 42804 …: the catalogue is out of date
  | "permission" // 42501
  | "serialization" // 40001 40P01
  | "locked" // 55P03
  | "timeout" // 57014
  | "unavailable" // not there, starting, full, read-only, connection never made
  | "lost" // disconnected after the statement was sent
  | "remote" // a foreign server or a shard was disconnected; the session is intact
  | "too_complex" // 54xxx
  | "unknown";

const KIND_BY_CODE: ReadonlyMap<string, FailureKind> = new Map([
  // Only triggers, views and generated columns of your database can cause these.
  ["09000", "raised"],
  ["21000", "raised"],
  ["22012", "raised"],
  ["27000", "raised"],
  ["2D000", "raised"],
  ["23502", "not_null"],
  ["23514", "check"],
  ["44000", "check"],
  ["0A000", "stale"],
  ["3F000", "stale"],
  ["42601", "value"], // a tsquery or jsonpath: nothing else of ours can be misspelt
  ["42602", "value"],
  ["42703", "stale"],
  ["42P01", "stale"],
  ["42P02", "stale"],
  ["42P10", "stale"],
  ["42P18", "stale"],
  ["42704", "stale"],
  ["42804", "stale"],
  ["42809", "stale"],
  ["42846", "stale"],
  ["42883", "stale"],
  ["428C9", "stale"],
  ["42501", "permission"],
  ["40003", "lost"],
  ["55P03", "locked"],
  ["57014", "timeout"],
  ["25P04", "timeout"],
  ["25006", "unavailable"],
  ["3D000", "unavailable"],
  ["55000", "unavailable"], // a materialised view that holds nothing yet
  ["57P03", "unavailable"],
  ["25P03", "lost"],
  ["57P01", "lost"],
  ["57P02", "lost"],
  ["57P04", "lost"],
  ["57P05", "lost"],
  ["CONNECT_TIMEOUT", "unavailable"],
  ["CONNECTION_ENDED", "unavailable"],
  ["ECONNREFUSED", "unavailable"],
  ["EHOSTUNREACH", "unavailable"],
  ["ENETUNREACH", "unavailable"],
  ["ENOENT", "unavailable"], // the directory of a unix socket
  ["ENOTFOUND", "unavailable"],
  ["EAI_AGAIN", "unavailable"],
  ["CONNECTION_CLOSED", "lost"],
  ["CONNECTION_DESTROYED", "lost"],
  ["ECONNABORTED", "lost"],
  ["ECONNRESET", "lost"],
  ["EPIPE", "lost"], // on Deno; on Node the driver reports CONNECTION_CLOSED
  ["ERR_STREAM_DESTROYED", "lost"],
  ["ETIMEDOUT", "lost"],
]);

const KIND_BY_CLASS: ReadonlyMap<string, FailureKind> = new Map([
  ["08", "lost"],
  ["22", "value"],
  ["23", "conflict"],
  ["28", "unavailable"],
  ["40", "serialization"],
  ["53", "unavailable"],
  ["54", "too_complex"],
  ["P0", "raised"],
]);

/**
 * Classes of Postgres itself that mean nothing to a client. An error of any other class was raised by
 * a trigger of your database, with a code of its own: the client learns that the change was rejected, and
 * not the message.
 */
const OWN_CLASSES: ReadonlySet<string> = new Set(
  ("01 02 03 08 09 0A 0B 0F 0L 0P 0Z 20 21 22 23 24 25 26 27 28 2B 2D 2F 34 38 39 3B 3D 3F 40 42 44 " +
    "53 54 55 57 58 72 F0 HV P0 XX").split(" "),
);

/**
 * Gives the kind of a code, SQLSTATE or the driver's; undefined for an unknown one.
 * `fromServer` is true for an error that Postgres itself sent.
 * @see P30
 */
export function findKind(code: string, fromServer: boolean): FailureKind | undefined {
  const known = KIND_BY_CODE.get(code);
  if (known !== undefined || code.length !== 5) return known;
  const ofClass = code.slice(0, 2);
  return KIND_BY_CLASS.get(ofClass) ??
    (fromServer && !OWN_CLASSES.has(ofClass) ? "raised" : undefined);
}
