import { quoteIdentifier } from "../catalogue/quote_identifier.ts";
import type { ApiError } from "../basics/errors/api_error.ts";
import { quote, rejectIssues, under } from "../basics/errors/issue.ts";
import { BROKEN_CHECK } from "./database_status.ts";
import type { Compile } from "../database/postgres/database.ts";
import { DatabaseError } from "../database/postgres/database_error.ts";
import { compileCheckColumns, compilePartitionColumns } from "./sql/constraint_columns.ts";
import { type FailedStatement, fieldsOf } from "./explain_conflict.ts";
import type { Run } from "./run.ts";

const NO_PARTITION = "The table has no partition for the new values";

/** A row for which there is no partition. Only this error of its code names a table and no constraint. */
function lacksPartition({ code, constraint, relation, inFunction }: DatabaseError): boolean {
  return code === "23514" && constraint === undefined && relation !== undefined && !inFunction;
}

/**
 * Returns the 400 for a row that no partition takes, at each field that decides its partition;
 * undefined for any other error, or where no field of the request does.
 * @see E52
 */
export async function explainPartition(
  error: DatabaseError,
  { run, plan, document }: FailedStatement,
): Promise<ApiError | undefined> {
  if (!lacksPartition(error)) return undefined;
  const { relation } = error;
  const { assignments = [], table } = plan;
  const columns = await readColumns(run, (sql) => compilePartitionColumns(sql, table, relation!));
  const identifiers = new Set(columns.map((name) => quoteIdentifier(name)));
  const issues = assignments.filter(({ column }) => identifiers.has(column.identifier))
    .map(({ column: { name } }) => ({
      path: under(fieldsOf(plan), name),
      message: `${NO_PARTITION}, expected values for which it has one`,
    }));
  if (issues.length === 0) return undefined;
  return Object.assign(rejectIssues(issues, document), { cause: error });
}

/**
 * Describes a broken check constraint. It is named only where the table itself has it, and it concerns
 * no column but those that the client sees.
 * @see E32
 */
export async function describeCheck(
  error: DatabaseError,
  { run, plan: { table } }: FailedStatement,
): Promise<string> {
  const { constraint, relation, inFunction } = error;
  if (lacksPartition(error)) return NO_PARTITION;
  if (constraint === undefined || relation === undefined || inFunction) return BROKEN_CHECK;
  const columns = await readColumns(run, (sql) => compileCheckColumns(sql, table, constraint));
  const seen = new Set([...table.columns.values()].map(({ identifier }) => identifier));
  const isSeen = columns.length > 0 &&
    columns.every((name) => name !== null && seen.has(quoteIdentifier(name)));
  return isSeen ? `The new values break the check constraint ${quote(constraint)}` : BROKEN_CHECK;
}

/** Returns no columns if they cannot be read: the response then says less. */
async function readColumns<Name extends string | null>(
  { database, requester }: Run,
  compile: Compile<{ column: Name }>,
): Promise<readonly Name[]> {
  try {
    const rows = await database.run(compile, { write: false, ...requester });
    return rows.map(({ column }) => column);
  } catch (failure) {
    if (failure instanceof DatabaseError) return [];
    throw failure;
  }
}
