import {
  ABORTED_CODE,
  DEADLINE,
  endsSession,
  type ErrorOrigin,
  type FailureKind,
  findKind,
  findRule,
  POOL_WAIT,
} from "./failure_kind.ts";

/** Why a statement failed; never shown to a client as it is. */
export interface Failure {
  readonly kind: FailureKind;
  /** SQLSTATE or the driver's code. */
  readonly code: string;
  /** Name of the constraint, for `check` and `conflict`; clients see it only for `check`. */
  readonly constraint: string | undefined;
  /** Schema and name of the table with the constraint. */
  readonly relation: string | undefined;
  /** Name of the column, for `not_null`. */
  readonly column: string | undefined;
  /**
   * The message that a function of the operator's database raised, for `raised` only; every other
   * text of Postgres is dropped.
   */
  readonly raised: string | undefined;
  /** True if it was raised within a function of the operator, such as a trigger. */
  readonly inFunction: boolean;
  /** True if its session must not be used again. */
  readonly endsSession: boolean;
  /** True if Postgres itself said so, or a pooler for it. */
  readonly fromServer: boolean;
}

/** Whether a statement might change rows, which decides what a lost connection means. */
export interface StatementEffect {
  readonly write: boolean;
}

/**
 * The error with which every call of {@link Database} rejects. What it means for a client is in
 * `records/database_status.ts`.
 */
export class DatabaseError extends Error implements Failure {
  override readonly name = "DatabaseError";
  readonly kind: FailureKind;
  readonly code: string;
  readonly constraint: string | undefined;
  readonly relation: string | undefined;
  readonly column: string | undefined;
  readonly raised: string | undefined;
  readonly inFunction: boolean;
  readonly endsSession: boolean;
  readonly fromServer: boolean;
  /** True when the statement might have changed rows. */
  readonly write: boolean;

  constructor(failure: Failure, { write }: StatementEffect) {
    super(`${failure.kind} (${failure.code})`);
    this.kind = failure.kind;
    this.code = failure.code;
    this.constraint = failure.constraint;
    this.relation = failure.relation;
    this.column = failure.column;
    this.raised = failure.raised;
    this.inFunction = failure.inFunction;
    this.endsSession = failure.endsSession;
    this.fromServer = failure.fromServer;
    this.write = write;
  }
}

/** A character that one of two encodings lacks, and bytes that are no text in one. */
const ENCODING_CODES: ReadonlySet<string> = new Set(["22P05", "22021"]);

/** Reports whether a text could not be brought to, or from, the encoding of the database. @see E53 */
export function isOfEncoding({ code }: DatabaseError): boolean {
  return ENCODING_CODES.has(code);
}

/** Finds the database error that an error is or was caused by; undefined if there is none. */
export function findDatabaseError(error: unknown): DatabaseError | undefined {
  if (error instanceof DatabaseError) return error;
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof DatabaseError ? cause : undefined;
}

const MAX_RAISED_CHARACTERS = 500;

/** The fields of an error, of Postgres or of anything else, that decide what it is. */
interface ErrorFields {
  readonly name?: unknown;
  readonly code?: unknown;
  readonly constraint_name?: unknown;
  readonly column_name?: unknown;
  readonly schema_name?: unknown;
  readonly table_name?: unknown;
  readonly message?: unknown;
  readonly routine?: unknown;
  readonly severity?: unknown;
  /** The same in the language of the server; some poolers send only this one. */
  readonly severity_local?: unknown;
  readonly where?: unknown;
}

/**
 * Classifies an error of the driver. If `sent` is false, the statement was never sent: nothing was
 * changed and the database is unavailable, whatever the error is.
 * @see P30
 */
export function classify(error: unknown, sent = true): Failure {
  const fields = (typeof error === "object" && error !== null ? error : {}) as ErrorFields;
  const code = typeof fields.code === "string" ? fields.code : nameWithoutCode(fields.name);
  const origin = findOrigin(fields);
  const known = isRowRefused(fields, origin) ? "outside" : findKind(code, origin);
  const kind = sent ? known : "unavailable";
  return {
    kind,
    code,
    constraint: kind === "check" || kind === "conflict" ? text(fields.constraint_name) : undefined,
    relation: text(fields.table_name) && `${fields.schema_name}.${fields.table_name}`,
    column: kind === "not_null" ? text(fields.column_name) : undefined,
    raised: kind === "raised" && hasMessage(code, fields.routine)
      ? text(fields.message)?.slice(0, MAX_RAISED_CHARACTERS)
      : undefined,
    inFunction: origin.inFunction,
    endsSession: endsSession({ kind, code }, origin),
    fromServer: origin.fromServer,
  };
}

/** The severities that end a session; in every language where there is no other. */
const FATAL: ReadonlySet<unknown> = new Set(["FATAL", "PANIC"]);
/** The C functions with which PL/pgSQL and PL/Python raise an error that the author of a function chose. */
const RAISES: ReadonlySet<unknown> = new Set(["exec_stmt_raise", "PLy_output"]);
/** The line that Postgres may add about the parameters of a statement, whatever the language. */
const PARAMETERS_LINE = /^.*: \$1 = /m;

function findOrigin(fields: ErrorFields): ErrorOrigin {
  const severity = fields.severity ?? fields.severity_local;
  const where = text(fields.where)?.split(PARAMETERS_LINE, 1)[0]?.trim();
  return {
    fromServer: severity !== undefined,
    fatal: FATAL.has(severity),
    chosen: RAISES.has(fields.routine),
    inFunction: text(where) !== undefined,
  };
}

/**
 * SQLSTATE of an update whose row, as it was written, would not be the tenant's or not match the row
 * filter. Postgres has it only for `.keyvalue()` in a jsonpath.
 * @see T80
 */
const OUT_OF_REACH = "2203C";

/**
 * Reports whether a row is refused as it would be written: by the statement, or by row level security,
 * for which Postgres has the code of a missing right.
 */
function isRowRefused({ code, routine }: ErrorFields, { inFunction }: ErrorOrigin): boolean {
  const isOfPolicy = code === "42501" && routine === "ExecWithCheckOptions";
  return (code === OUT_OF_REACH || isOfPolicy) && !inFunction;
}

/** Returns the code for Deno's error about a missing permission, which has only a name. */
function nameWithoutCode(name: unknown): string {
  return name === "NotCapable" ? "NOT_CAPABLE" : "UNKNOWN";
}

/** Raised by PL/pgSQL itself: a failed assertion, a `select into strict` without exactly one row. */
const PLPGSQL_CODES: ReadonlySet<string> = new Set(["P0002", "P0003", "P0004"]);

/** Reports whether the author of a function wrote the message for others to read. */
function hasMessage(code: string, routine: unknown): boolean {
  return code.startsWith("P0") && (!PLPGSQL_CODES.has(code) || routine === "exec_stmt_raise");
}

/** Reports whether the same statement may succeed later. */
export function isTransient(failure: Failure): boolean {
  return findRule(failure).passes;
}

/** Failures that the service itself causes, which the metrics distinguish from others of their kind. */
const FAULT_BY_CODE: ReadonlyMap<string, string> = new Map([
  [ABORTED_CODE, "aborted"],
  [POOL_WAIT, "pool_wait"],
  [DEADLINE, "deadline"],
]);

/** Names a failure for the metrics: one of a few words, never a code that a trigger chose. */
export function nameFault({ kind, code }: Failure): string {
  return FAULT_BY_CODE.get(code) ?? kind;
}

/** The origin of a failure that the service itself makes. */
const OWN_ORIGIN: ErrorOrigin = {
  fromServer: false,
  fatal: false,
  chosen: false,
  inFunction: false,
};

/** Makes a failure of the service itself. */
export function makeFailure(kind: FailureKind, code: string): Failure {
  return {
    kind,
    code,
    constraint: undefined,
    relation: undefined,
    column: undefined,
    raised: undefined,
    inFunction: false,
    endsSession: endsSession({ kind, code }, OWN_ORIGIN),
    fromServer: false,
  };
}

function text(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

const FATAL_BY_CODE: ReadonlyMap<string, string> = new Map([
  ["28P01", "the database rejects the user or the password of DATABASE_URL"],
  ["28000", "the database does not let the user of DATABASE_URL in (pg_hba.conf, or no such role)"],
  ["SASL_SIGNATURE_MISMATCH", "the database could not prove that it knows the password"],
  ["3D000", "the database named in DATABASE_URL does not exist"],
  ["NOT_CAPABLE", "Deno denies network access to the database, it needs --allow-net"],
  ["CERT_HAS_EXPIRED", "the database's certificate has expired"],
  ["DEPTH_ZERO_SELF_SIGNED_CERT", "the database's certificate is self-signed"],
  ["ERR_TLS_CERT_ALTNAME_INVALID", "the database's certificate is for another host"],
  ["SELF_SIGNED_CERT_IN_CHAIN", "the database's certificate comes from an unknown authority"],
  [
    "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
    "the database's certificate comes from an unknown authority",
  ],
  ["SSL_REFUSED", "the database does not encrypt, which sslmode in DATABASE_URL asks for"],
  [
    "SETTING_NOT_PASSED_ON",
    "a pooler in front of the database does not pass on what a session needs; " +
    "set ROWGATE_PREPARE=off",
  ],
  ["SSL_ROOT_CERT", "the file named by sslrootcert in DATABASE_URL cannot be read"],
  ["UNABLE_TO_VERIFY_LEAF_SIGNATURE", "the database's certificate comes from an unknown authority"],
]);

/**
 * Returns in one line why waiting for the database is useless; undefined if it may become available.
 * @see R36, R37
 */
export function describeFatal(failure: Failure): string | undefined {
  return FATAL_BY_CODE.get(failure.code);
}
