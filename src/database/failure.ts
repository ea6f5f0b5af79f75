/** What the database did instead of answering, in the terms that answers are chosen by. @see DECISIONS 4 */
export type FailureKind =
  | "value" // 22xxx: a value of the wrong form or out of range
  | "not_null" // 23502
  | "check" // 23514
  | "conflict" // 23505 23503 23P01
  | "raised" // class P0
  | "stale" // 42703 42P01 42883 42804 …: the catalogue is behind
  | "permission" // 42501
  | "serialization" // 40001 40P01
  | "locked" // 55P03
  | "timeout" // 57014
  | "unavailable" // away, starting, full, read-only, connection never made
  | "lost" // the connection went away after the statement was sent
  | "too_complex" // 54xxx
  | "unknown";

/** A failure of the database, for the log and for the choice of an answer; never shown as it is. */
export interface Failure {
  readonly kind: FailureKind;
  /** SQLSTATE or the driver's code. */
  readonly code: string;
  /** Name of the constraint, for `check`. */
  readonly constraint: string | undefined;
  /** Name of the column, for `not_null`. */
  readonly column: string | undefined;
  /** The text, for `raised` alone. */
  readonly message: string | undefined;
}
