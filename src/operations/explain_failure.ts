import type { Failure } from "../database/failure.ts";
import { ApiError } from "../errors.ts";
import { quote, refuseIssues } from "../issue.ts";
import type { Predicate } from "../plan/predicate.ts";
import type { Assignment } from "../plan/update_plan.ts";
import type { Table } from "../catalogue/catalogue.ts";
import { type Call, failureOf } from "./call.ts";
import { locateValues } from "./locate_values.ts";

/** The statement that failed, by its plan, and the document that asked for it. */
export interface FailedStatement {
  readonly call: Call;
  readonly plan: {
    readonly table: Table;
    readonly predicate: Predicate | undefined;
    readonly assignments?: readonly Assignment[];
  };
  readonly document: unknown;
}

/**
 * Gives the error to answer a failed statement with: a value that only Postgres could judge is traced
 * to its path, a constraint to its name, a NULL to its field. Other errors are given back as they are.
 * @see DECISIONS 4
 */
export async function explainFailure(error: unknown, statement: FailedStatement): Promise<unknown> {
  const failure = failureOf(error);
  if (failure === undefined) return error;
  switch (failure.kind) {
    case "value":
      return await explainValue(failure, statement, "The database could not take the values");
    case "check":
      return await explainValue(failure, statement, describeCheck(failure));
    case "stale": {
      // A type such as regclass refuses a value in the words of a missing table.
      const issues = await locateValues(statement.call, statement.plan);
      return issues.length > 0 ? refuseIssues(issues, statement.document) : error;
    }
    case "not_null":
      return explainNull(failure, statement);
    default:
      return error;
  }
}

async function explainValue(
  failure: Failure,
  { call, plan, document }: FailedStatement,
  otherwise: string,
): Promise<ApiError> {
  const issues = await locateValues(call, plan);
  if (issues.length > 0) return refuseIssues(issues, document);
  const member = plan.assignments === undefined ? "filters" : "fields";
  return new ApiError(400, `${member}: ${otherwise}`, { cause: failure });
}

function describeCheck({ constraint }: Failure): string {
  if (constraint === undefined) return "The new values break a check constraint";
  return `The new values break the check constraint ${quote(constraint)}`;
}

/** A NOT NULL that only the database knew of, such as one set by a trigger. */
function explainNull(failure: Failure, { plan, document }: FailedStatement): ApiError {
  const column = plan.assignments?.find((assignment) => assignment.column.name === failure.column);
  if (column === undefined) {
    const message = "fields: A column that must have a value would be null";
    return new ApiError(400, message, { cause: failure });
  }
  const message = `Column ${quote(column.column.name)} can not be null, expected a value`;
  return refuseIssues([{ path: ["fields", column.column.name], message }], document);
}
