import { ApiError } from "../basics/errors/api_error.ts";
import { quote } from "../basics/errors/issue.ts";
import type { Idempotency } from "./plan/idempotency.ts";
import type { Database, Step, StepGroup } from "../database/postgres/database.ts";
import { DatabaseError } from "../database/postgres/database_error.ts";
import type { Sql } from "../database/postgres/driver.ts";
import {
  type ClaimRow,
  compileClaimStep,
  compileFindKept,
  compileForget,
  compileKeep,
  type KeptRow,
} from "./sql/idempotency.ts";
import type { Run } from "./run.ts";
import type { WrittenOne } from "./written_one.ts";

/** The stored result of an update. The response follows from it and the request. */
export type Answer =
  /** Rows that were written, for each update of a batch; with its row where that is returned. */
  | readonly (number | string | WrittenOne)[]
  /** Of a 404 or 409: how many rows matched, and which update of a batch failed. */
  | { readonly matched: number | string; readonly place?: number };

/** The key of an update was used before, or is in use; nothing was done. */
class ClaimedBeforeError extends Error {}

/** How an update is run, and how its response is made from a stored answer. */
export interface OnceOptions<Result> {
  readonly attempt: () => Promise<Result>;
  /** @throws {ApiError} the 404 or 409 that is kept */
  readonly replay: (answer: Answer) => Result;
}

/**
 * How often an update is tried while its key expires, or other requests with the same key come and
 * go.
 */
const MAX_ATTEMPTS = 5;

/**
 * Runs an update once for its key. If an answer is stored under the key, `replay` makes the response
 * from it and the update is not run. Without a key the update simply runs.
 * @throws {ApiError} 422 the key was used for another request; 409 the first is still running
 * @throws {DatabaseError}
 * @see docs/specification/idempotency.md
 */
export function answerOnce<Result>(
  run: Run,
  idempotency: Idempotency | undefined,
  options: OnceOptions<Result>,
): Promise<Result> {
  return idempotency === undefined ? options.attempt() : answerKeyed(run, idempotency, options);
}

async function answerKeyed<Result>(
  run: Run,
  idempotency: Idempotency,
  { attempt, replay }: OnceOptions<Result>,
): Promise<Result> {
  for (let attempts = 1; attempts <= MAX_ATTEMPTS; attempts++) {
    try {
      return await attempt();
    } catch (error) {
      if (isKeptMeanwhile(error)) continue;
      if (!(error instanceof ClaimedBeforeError)) throw error;
    }
    const kept = await findKept(run, idempotency);
    if (kept === undefined) throw rejectRunning();
    if (!kept.expired) {
      if (!kept.same) throw rejectOtherRequest(idempotency);
      run.replayed();
      return replay(JSON.parse(kept.answer));
    }
    await forget(run, idempotency);
  }
  throw rejectRunning();
}

async function findKept(
  { database, requester }: Run,
  idempotency: Idempotency,
): Promise<KeptRow | undefined> {
  const compile = (sql: Sql) => compileFindKept(sql, idempotency);
  const [row] = await database.run(compile, { write: false, brief: true, ...requester });
  return row;
}

/**
 * Another transaction stored its answer after this one took its snapshot and before it got the lock.
 */
function isKeptMeanwhile(error: unknown): boolean {
  return error instanceof DatabaseError && error.kind === "conflict" &&
    error.relation === "rowgate.idempotency_keys";
}

async function forget({ database, requester }: Run, idempotency: Idempotency): Promise<void> {
  const compile = (sql: Sql) => compileForget(sql, idempotency);
  await database.run(compile, { write: true, brief: true, ...requester });
}

function rejectRunning(): ApiError {
  const message =
    "Idempotency-Key: the first request with this key is still running, repeat it later";
  return new ApiError(409, message, { headers: { "Retry-After": "1" } });
}

function rejectOtherRequest({ key }: Idempotency): ApiError {
  const message = `Idempotency-Key: ${quote(key)} was used for another request, expected a new key`;
  return new ApiError(422, message);
}

/**
 * Returns the row of a statement that may have claimed a key.
 * @throws {ClaimedBeforeError} the statement did nothing, since the key was claimed before
 */
export function readClaimed<Row extends ClaimRow>(row: Row): Row {
  if (row.claimed === false) throw new ClaimedBeforeError("the key was claimed before");
  return row;
}

/** Gives the first step of a transaction with a key, which claims it; none without a key. */
export function claimSteps(idempotency: Idempotency | undefined): StepGroup[] {
  if (idempotency === undefined) return [];
  const claim: Step = (sql) => compileClaimStep(sql, idempotency);
  const take = ([row]: readonly ClaimRow[]) => void readClaimed(row!);
  return [{ steps: [claim], take }];
}

/**
 * Returns the last step of a transaction with a key, which stores the answer if there is one by then.
 */
export function keepSteps(
  idempotency: Idempotency | undefined,
  find: () => Answer | undefined,
): Step[] {
  if (idempotency === undefined) return [];
  return [(sql) => {
    const answer = find();
    return answer === undefined ? sql`select where false` : compileAnswer(sql, idempotency, answer);
  }];
}

/** Stores the answer of an update that was rolled back already. */
export async function keepAlone(
  { database, requester }: { readonly database: Database } & Pick<Run, "requester">,
  idempotency: Idempotency,
  answer: Answer,
): Promise<void> {
  const compile = (sql: Sql) => sql<never[]>`${compileAnswer(sql, idempotency, answer)}`;
  await database.run(compile, { write: true, brief: true, ...requester });
}

/** Returns the answer to store for an error; undefined for an error that is not stored. */
export function answerOf(rejection: ApiError, place?: number): Answer | undefined {
  const { matched } = rejection;
  return matched === undefined ? undefined : { matched, ...(place === undefined ? {} : { place }) };
}

function compileAnswer(sql: Sql, idempotency: Idempotency, answer: Answer) {
  return compileKeep(sql, idempotency, sql`${JSON.stringify(answer, toNumber)}::text`);
}

/** Counts that come from Postgres are strings of digits; the rows of a create are other strings. */
function toNumber(key: string, value: unknown): unknown {
  const isCount = typeof value === "string" && key !== "record" && key !== "tag";
  return isCount && /^[0-9]+$/.test(value) ? Number(value) : value;
}
