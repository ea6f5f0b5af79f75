import type { Column } from "../catalogue/catalogue.ts";
import { ApiError } from "../basics/errors/api_error.ts";
import { quote } from "../basics/errors/issue.ts";
import type { QueryPlan } from "./plan/query_plan.ts";
import { DatabaseError, isOfEncoding } from "../database/postgres/database_error.ts";
import { compileQuery } from "./sql/query.ts";
import type { Run } from "./run.ts";

/**
 * Returns the 400 for a stored text that is not valid in the encoding of the database, as one with the
 * encoding SQL_ASCII can have. The columns of a page are read again, in halves, to name the one with the
 * text.
 * @throws {DatabaseError} when the database fails meanwhile
 * @see E54
 */
export async function rejectStored(
  cause: DatabaseError,
  run: Run,
  plan: object,
): Promise<ApiError> {
  const column = isPage(plan) ? await findColumn(run, plan) : undefined;
  const where = column === undefined ? "A column" : `Column ${quote(column.name)}`;
  const message =
    `select: ${where} has a text that is not valid in UTF-8, expected columns without`;
  return new ApiError(400, message, { cause });
}

function isPage(plan: object): plan is QueryPlan {
  return "perPage" in plan;
}

const PLAIN: ReadonlySet<Column["kind"]> = new Set<Column["kind"]>(
  ["boolean", "int2", "int4", "int8", "float4", "float8", "numeric", "uuid"],
);

async function findColumn(run: Run, plan: QueryPlan): Promise<Column | undefined> {
  let found = plan.columns.filter(({ kind }) => !PLAIN.has(kind));
  while (found.length > 1) {
    const half = found.slice(0, Math.ceil(found.length / 2));
    found = await canRead(run, { ...plan, columns: half }) ? found.slice(half.length) : half;
  }
  const plain = [...plan.table.columns.values()].filter(({ kind }) => PLAIN.has(kind)).slice(0, 1);
  // A value of the sort is read, too.
  const isSort = plain.length > 0 && !await canRead(run, { ...plan, columns: plain });
  return isSort ? undefined : found[0];
}

async function canRead({ database, settings, requester }: Run, plan: QueryPlan): Promise<boolean> {
  const options = { write: false, ...requester };
  try {
    await database.run((sql) => compileQuery(sql, plan, settings), options);
    return true;
  } catch (error) {
    if (error instanceof DatabaseError && isOfEncoding(error)) return false;
    throw error;
  }
}
