import type { Table } from "../catalogue/catalogue.ts";
import { NotWritableError } from "../catalogue/not_writable_error.ts";
import { quoteIdentifier } from "../catalogue/quote_identifier.ts";
import { ApiError } from "../basics/errors/api_error.ts";
import { printPath, quote, rejectIssues, under } from "../basics/errors/issue.ts";
import { NOT_UPDATABLE, REFUSED_QUERY } from "./database_status.ts";
import type { Assignment } from "./plan/assignment.ts";
import type { Returned } from "./plan/returned.ts";
import { planRowFilter } from "./plan/row_filter.ts";
import { refersBy } from "./plan/scope.ts";
import { DatabaseError, isOfEncoding, makeFailure } from "../database/postgres/database_error.ts";
import { findSchema } from "../database/schema/find_schema.ts";
import { TOO_LARGE_ROW } from "./sql/returned.ts";
import { FOREIGN_PARENT, OUTSIDE_FILTER } from "./sql/row_checks.ts";
import { describeCheck, explainPartition } from "./explain_check.ts";
import {
  explainConflict,
  type FailedStatement,
  fieldsOf,
  FOREIGN_KEY_VIOLATION,
  rejectAtFields,
} from "./explain_conflict.ts";
import { explainRemoval } from "./explain_removal.ts";
import { rejectStored } from "./explain_stored.ts";
import { locateValues, mayBeOfValue } from "./locate_values.ts";
import { isBeyondEngine } from "./ways.ts";

/**
 * Returns the error that the client gets for a failed statement. It finds the path of a value that
 * Postgres rejected, the name of a constraint, and the field of a NULL. Other errors are returned
 * unchanged.
 * @see docs/specification/errors.md#errors-of-the-database
 */
export async function explainError(error: unknown, statement: FailedStatement): Promise<unknown> {
  if (!(error instanceof DatabaseError)) return error;
  const { inFunction } = error;
  if (!inFunction && error.code === FOREIGN_PARENT && refersElsewhere(statement)) {
    return rejectParent(error, statement);
  }
  if (!inFunction && error.code === OUTSIDE_FILTER && statement.plan.table.only !== undefined) {
    const rejection = rejectOutside(error, statement);
    if (rejection !== undefined) return rejection;
  }
  if (!inFunction && error.code === TOO_LARGE_ROW && statement.plan.returned) {
    return rejectLargeRow(error, statement.plan.returned);
  }
  if (await isOfAudit(error, statement)) return rejectUnaudited(error);
  if (await isOfAnswers(error, statement)) return rejectUnkept(error);
  const refused = explainRemoval(error, statement);
  if (refused !== undefined) return refused;
  if (error.kind === "conflict") return await explainConflict(error, statement);
  if (!mayBeOfValue(error)) return error;
  if (error.kind === "not_null") return explainNull(error, statement);
  const explained = await explainValue(error, statement);
  const isRefused = explained === error && error.write &&
    isBeyondEngine(error, statement.plan.table);
  return isRefused ? rejectRefused(error, statement.plan.table) : explained;
}

/**
 * An error raised by a trigger is about one row; one raised by an engine is about all rows of the
 * table.
 */
function rejectRefused(cause: DatabaseError, table: Table): ApiError {
  return table.mayRefuse === true && !cause.inFunction
    ? new NotWritableError(NOT_UPDATABLE, { table, cause })
    : new ApiError(403, NOT_UPDATABLE, { cause });
}

/** The row that the response would have is larger than it may be. @see OR19 */
function rejectLargeRow(cause: DatabaseError, { maxBytes }: Returned): ApiError {
  const message = `Prefer: the record of return=representation is larger than ${maxBytes} bytes, ` +
    "expected no such preference; nothing was changed";
  return new ApiError(400, message, { cause });
}

/** The row that the response would have holds a text that is not valid in UTF-8. @see E54 */
function rejectUnreadableRow(cause: DatabaseError): ApiError {
  const message = "Prefer: the record of return=representation has a text that is not valid in " +
    "UTF-8, expected no such preference; nothing was changed";
  return new ApiError(400, message, { cause });
}

/** Reports whether the update may have set a column of a reference that was checked, or a trigger. */
function refersElsewhere({ plan }: FailedStatement): boolean {
  const { table, assignments } = plan;
  if (plan.fields !== undefined) return leadsAnywhere(table);
  return assignments !== undefined &&
    (table.references.length > 0 || assignments.some((each) => leadsToTenant(table, each)));
}

function leadsAnywhere({ tenancy, references }: Table): boolean {
  return references.length > 0 || tenancy !== undefined && tenancy.via.length > 0;
}

function leadsToTenant({ tenancy, references }: Table, { column }: Assignment): boolean {
  return [...(tenancy === undefined ? [] : [tenancy]), ...references]
    .some((path) => refersBy(path, column));
}

/**
 * The referenced row belongs to another tenant or does not exist. Both get the response for a broken
 * foreign key, so that the client cannot tell them apart.
 * @see T61, T83
 */
function rejectParent({ write }: DatabaseError, statement: FailedStatement): unknown {
  const error = new DatabaseError(makeFailure("conflict", FOREIGN_KEY_VIOLATION), { write });
  const { table } = statement.plan;
  return rejectAtFields(error, statement, (assignment) => leadsToTenant(table, assignment));
}

/** Returns the 400 for a new value that the row filter of the policy would hide. @see T66 */
function rejectOutside(
  cause: DatabaseError,
  { plan, document }: FailedStatement,
): ApiError | undefined {
  const { table, assignments = [] } = plan;
  const isNew = plan.fields !== undefined;
  const filter = planRowFilter(table);
  const leaving = assignments.filter(({ column }) =>
    "columns" in filter && filter.columns.has(column)
  );
  if (leaving.length === 0 && !isNew) return undefined;
  const message = isNew
    ? `The record would not match the filter of table ${quote(table.name)}, ` +
      "expected values with which it can be reached"
    : `The row would no longer match the filter of table ${quote(table.name)}, ` +
      "expected a value with which it can still be reached";
  const paths = leaving.map(({ column }) => under(fieldsOf(plan), column.name));
  const issues = (paths.length > 0 ? paths : [fieldsOf(plan)]).map((path) => ({ path, message }));
  return Object.assign(rejectIssues(issues, document), { cause });
}

/** Kinds of failure when the role lacks rights in schema `rowgate`, or a table is missing there. */
const OWN_KINDS: ReadonlySet<string> = new Set(["permission", "stale"]);

/**
 * Postgres names the table only for a broken constraint; for other errors the rights are looked up.
 */
async function isOfAudit(
  { relation, kind }: DatabaseError,
  { plan, run }: FailedStatement,
): Promise<boolean> {
  if (plan.audit === undefined) return false;
  if (relation === "rowgate.audit") return true;
  return OWN_KINDS.has(kind) && !(await findSchema(run.database)).writesAudit;
}

async function isOfAnswers(
  { kind }: DatabaseError,
  { plan, run }: FailedStatement,
): Promise<boolean> {
  return plan.idempotency !== undefined && OWN_KINDS.has(kind) &&
    !(await findSchema(run.database)).keepsAnswers;
}

/**
 * An error, not a warning: the client must not believe that its key had an effect. It can repeat the
 * request without one.
 * @see IK17
 */
function rejectUnkept(cause: DatabaseError): ApiError {
  const message =
    "Idempotency-Key: answers cannot be kept, since the schema rowgate is not ready " +
    "for it; nothing was changed";
  return new ApiError(400, message, { cause });
}

/** A 503: it is not the client's fault, and a newer catalogue would not help. */
function rejectUnaudited(cause: DatabaseError): ApiError {
  const message = "The audit of the change could not be written; nothing was changed";
  const headers = { "Retry-After": "1" };
  return new ApiError(503, message, { headers, cause });
}

/**
 * Names the values that Postgres rejects. It may accept each of them and reject their combination.
 */
async function explainValue(
  error: DatabaseError,
  statement: FailedStatement,
): Promise<unknown> {
  const { run, plan, document } = statement;
  const partition = await explainPartition(error, statement);
  if (partition !== undefined) return partition;
  const issues = await locateValues(run, plan, error);
  if (issues.length > 0) return rejectIssues(issues, document, { stale: true });
  const hasFields = plan.assignments !== undefined && plan.removal === undefined;
  if (isOfEncoding(error) && plan.returned !== undefined) return rejectUnreadableRow(error);
  if (isOfEncoding(error) && !hasFields) return await rejectStored(error, run, plan);
  if (error.kind !== "value" && (error.kind !== "check" || !error.write)) return error;
  // No value of the request, which has none that Postgres checks, but one in the table.
  if (!error.write && plan.predicate === undefined) {
    return new ApiError(400, REFUSED_QUERY, { cause: error, stale: true });
  }
  const otherwise = error.kind === "value"
    ? "The database could not take the values"
    : await describeCheck(error, statement);
  const path = printPath(hasFields ? fieldsOf(plan) : under(plan.path ?? null, "filters"));
  return new ApiError(400, `${path}: ${otherwise}`, {
    cause: error,
    stale: error.kind === "value",
  });
}

/** Explains a NULL, which may come from the database itself, for example from a trigger. */
function explainNull(error: DatabaseError, { plan, document }: FailedStatement): ApiError {
  const fields = fieldsOf(plan);
  const assignment = plan.assignments?.find(({ column }) =>
    error.column !== undefined && column.identifier === quoteIdentifier(error.column)
  );
  if (assignment === undefined) {
    const message = `${printPath(fields)}: A column that must have a value would be null`;
    return new ApiError(400, message, { cause: error });
  }
  const { name } = assignment.column;
  const message = `Column ${quote(name)} cannot be null, expected a value`;
  return rejectIssues([{ path: under(fields, name), message }], document);
}
