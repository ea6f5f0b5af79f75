import type { Table } from "../catalogue/catalogue.ts";
import { ApiError } from "../errors/api_error.ts";
import { type Path, rejectIssues, under } from "../errors/issue.ts";
import { unquoteIdentifier } from "../catalogue/quote_identifier.ts";
import { describeConflict } from "../http/database_status.ts";
import type { Assignment } from "../plan/assignment.ts";
import type { Idempotency } from "../plan/idempotency.ts";
import type { Predicate } from "../plan/predicate.ts";
import type { AuditEntry } from "../plan/update_plan.ts";
import { DatabaseError } from "../postgres/database_error.ts";
import { compileConstraintColumns } from "../sql/constraint_columns.ts";
import type { Run } from "./run.ts";

/** A statement that failed: its plan, and the body that it was made from. */
export interface FailedStatement {
  readonly run: Run;
  readonly plan: {
    /** Where the update is in the body. */
    readonly path?: Path;
    readonly table: Table;
    readonly predicate?: Predicate | undefined;
    readonly assignments?: readonly Assignment[];
    readonly audit?: AuditEntry | undefined;
    readonly idempotency?: Idempotency | undefined;
  };
  readonly document: unknown;
}

/**
 * Returns the 409 for a broken key, at the path of each field of the request that is part of the key.
 * The text names the kind of key and nothing else: it is the same whether the value is missing,
 * taken, or belongs to another tenant.
 * @see E31
 */
export async function explainConflict(
  error: DatabaseError,
  { run, plan, document }: FailedStatement,
): Promise<unknown> {
  const { constraint: name, relation } = error;
  if (plan.assignments === undefined || name === undefined || relation === undefined) return error;
  const columns = await readColumns();
  return rejectAtFields(
    error,
    { plan, document },
    ({ column }) => columns.has(unquoteIdentifier(column.identifier)),
  );

  /** Returns no columns if they cannot be read: the response then lacks only the path. */
  async function readColumns(): Promise<ReadonlySet<string>> {
    try {
      const rows = await run.database.run(
        (sql) => compileConstraintColumns(sql, plan.table, { name: name!, relation: relation! }),
        { write: false, ...run.requester },
      );
      return new Set(rows.map(({ column }) => column));
    } catch (failure) {
      if (failure instanceof DatabaseError) return new Set();
      throw failure;
    }
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
  const fields = under(plan.path ?? null, "fields");
  const message = describeConflict(error);
  const issues = (plan.assignments ?? []).filter(isPart)
    .map(({ column }) => ({ path: under(fields, column.name), message }));
  if (issues.length === 0) return error;
  return new ApiError(409, rejectIssues(issues, document).message, { cause: error });
}
