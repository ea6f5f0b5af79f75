import { ApiError } from "../errors/api_error.ts";
import { rejectIssues, under } from "../errors/issue.ts";
import { unquoteIdentifier } from "../catalogue/quote_identifier.ts";
import { describeConflict } from "../http/database_status.ts";
import type { Assignment } from "../plan/assignment.ts";
import { DatabaseError } from "../postgres/database_error.ts";
import { compileConstraintColumns } from "../sql/constraint_columns.ts";
import type { FailedStatement } from "./explain_error.ts";

/**
 * Returns the 409 of a broken key, at the path of each of the client's own fields that is part of it. The
 * text says which kind of key it is and nothing of any row: whether the value is missing, taken, or that
 * of another tenant, it is the same.
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

  /** None where they cannot be read: the response then lacks only its path. */
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

/** Returns the 409 at the path of each of the fields that are part of the key; without a path if none is. */
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
