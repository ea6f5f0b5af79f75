import type { Table } from "../catalogue/catalogue.ts";
import { ApiError } from "../basics/errors/api_error.ts";
import { type Path, printAt, rejectIssues, under } from "../basics/errors/issue.ts";
import { unquoteIdentifier } from "../catalogue/quote_identifier.ts";
import { describeConflict, OUT_OF_REACH } from "./database_status.ts";
import type { Assignment } from "./plan/assignment.ts";
import type { Idempotency } from "./plan/idempotency.ts";
import type { Predicate } from "./plan/predicate.ts";
import type { Removal } from "./plan/removal.ts";
import type { Returned } from "./plan/returned.ts";
import type { AuditEntry } from "./plan/update_plan.ts";
import { DatabaseError } from "../database/postgres/database_error.ts";
import type { PendingQuery, Sql } from "../database/postgres/driver.ts";
import { compileConstraintColumns, compileTenantSources } from "./sql/constraint_columns.ts";
import type { Run } from "./run.ts";

/** SQLSTATE of a foreign key whose row does not exist. */
export const FOREIGN_KEY_VIOLATION = "23503";

/** A statement that failed: its plan, and the body that it was made from. */
export interface FailedStatement {
  readonly run: Run;
  readonly plan: {
    /** Where the update is in the body. */
    readonly path?: Path;
    /** Where its new values are; left out: in `fields`. */
    readonly fields?: Path;
    readonly table: Table;
    readonly predicate?: Predicate | undefined;
    readonly assignments?: readonly Assignment[];
    readonly removal?: Removal | undefined;
    readonly audit?: AuditEntry | undefined;
    readonly idempotency?: Idempotency | undefined;
    readonly returned?: Returned | undefined;
  };
  readonly document: unknown;
}

/** Returns where the new values of a statement are in the body. */
export function fieldsOf(
  { path = null, fields }: Pick<FailedStatement["plan"], "path" | "fields">,
): Path {
  return fields === undefined ? under(path, "fields") : fields;
}

/**
 * Returns the 409 for a broken key, at the path of each field of the request that is part of the key.
 * The text names the kind of key and nothing else: it is the same whether the value is missing,
 * taken, or belongs to another tenant. Where the tenant is computed from a field of the request, the
 * row may have been on its way to another tenant: then the text is the one for that, whatever is there.
 * @see E31, E48
 */
export async function explainConflict(
  error: DatabaseError,
  statement: FailedStatement,
): Promise<unknown> {
  const { plan, document } = statement;
  const { constraint: name, relation } = error;
  if (plan.assignments === undefined || name === undefined || relation === undefined) return error;
  const { table } = plan;
  const moving = await readColumns(statement, (sql) => compileTenantSources(sql, table));
  const isOf = (columns: ReadonlySet<string>) => ({ column }: Assignment) =>
    columns.has(unquoteIdentifier(column.identifier));
  if (plan.assignments.some(isOf(moving))) {
    return new ApiError(409, printAt(plan.path ?? null) + OUT_OF_REACH, { cause: error });
  }
  const columns = await readColumns(
    statement,
    (sql) => compileConstraintColumns(sql, table, { name, relation }),
  );
  return rejectAtFields(error, { plan, document }, isOf(columns));
}

/** Returns no columns if they cannot be read: the response then lacks only the path. */
async function readColumns(
  { run }: FailedStatement,
  compile: (sql: Sql) => PendingQuery<{ column: string }[]>,
): Promise<ReadonlySet<string>> {
  try {
    const rows = await run.database.run(compile, { write: false, ...run.requester });
    return new Set(rows.map(({ column }) => column));
  } catch (failure) {
    if (failure instanceof DatabaseError) return new Set();
    throw failure;
  }
}

/**
 * Returns the 409 at the path of each field that is part of the key; without a path if there is none.
 */
export function rejectAtFields(
  error: DatabaseError,
  { plan, document }: Pick<FailedStatement, "plan" | "document">,
  isPart: (assignment: Assignment) => boolean,
): DatabaseError | ApiError {
  const fields = fieldsOf(plan);
  const message = describeConflict(error);
  const issues = (plan.assignments ?? []).filter(isPart)
    .map(({ column }) => ({ path: under(fields, column.name), message }));
  if (issues.length === 0) return error;
  return new ApiError(409, rejectIssues(issues, document).message, { cause: error });
}
