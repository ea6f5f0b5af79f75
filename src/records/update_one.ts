import { ApiError } from "../basics/errors/api_error.ts";
import { printAt } from "../basics/errors/issue.ts";
import type { UpdatePlan } from "./plan/update_plan.ts";
import type { Compile, Step } from "../database/postgres/database.ts";
import { DatabaseError } from "../database/postgres/database_error.ts";
import type { Rows, Sql } from "../database/postgres/driver.ts";
import { mayEntangle } from "./sql/removal.ts";
import { compileUpdateByKey, type KeyedRow, SECOND_ROW } from "./sql/update_by_key.ts";
import {
  compileLock,
  compileUpdateSingle,
  readLocked,
  type SingleRow,
} from "./sql/update_single.ts";
import {
  type Answer,
  answerOf,
  answerOnce,
  claimSteps,
  keepSteps,
  readClaimed,
} from "./answer_once.ts";
import { exceeds, rejectExceeded } from "./max_affected.ts";
import { rejectReferred } from "./explain_removal.ts";
import { rereadSteps } from "./reread.ts";
import { type Run, transact } from "./run.ts";
import { updateWithRules } from "./update_with_rules.ts";
import { rejectNoVersions } from "./version_key.ts";
import { nameWay, REFUSED, takeWay } from "./ways.ts";
import { fromKept, returnSteps, toKept, toWrittenOne, type WrittenOne } from "./written_one.ts";

/**
 * Updates exactly one row, or nothing, and gives how many rows were written: 0 when the row held the
 * values already.
 *
 * One statement where the filters name the key or the version of the row can be pinned. A transaction
 * that locks first where neither holds, where another request changed the row meanwhile, and for
 * `tx=rollback`.
 * @throws {ApiError} 404 with `matched` 0; 409 with `matched` above 1, more rows than `max-affected`,
 * or a trigger skipped the row; 503 other requests keep changing it
 * @throws {DatabaseError}
 * @see docs/specification/updates.md#single-exactly-one-row
 * @see P14, P16
 */
export function updateOneRow(run: Run, plan: UpdatePlan): Promise<WrittenOne> {
  return answerOnce(run, plan.idempotency, {
    attempt: () => decideOneRow(run, plan),
    replay: (answer) => replayOne(plan, answer),
  });
}

/**
 * Gives the result of a single update from its stored answer.
 * @throws {ApiError} the stored 404 or 409
 */
function replayOne(plan: UpdatePlan, answer: Answer): WrittenOne {
  if (!("matched" in answer)) return fromKept(answer[0]!);
  return checkResult(plan, { matched: String(answer.matched), wanted: false, updated: "0" });
}

/**
 * Takes the first way that the engine supports. If another request changed the row meanwhile, it
 * locks the row first.
 */
async function decideOneRow(run: Run, plan: UpdatePlan): Promise<WrittenOne> {
  const row = await writeInOneStatement(run, plan);
  if (row !== undefined && !wasOvertaken(plan, row)) return checkResult(plan, row);
  const written = plan.table.pinnable
    ? await takeWay(nameWay("lock and pin", plan), plan, () => writeInTransaction(run, plan))
    : REFUSED;
  if (written !== REFUSED) return checkResult(plan, written);
  if (plan.expected !== undefined) throw rejectNoVersions();
  return checkResult(plan, await writeInTransaction(run, withoutPin(plan)));
}

/** Gives a plan whose row is held by its lock alone. @see M18 */
export function withoutPin(plan: UpdatePlan): UpdatePlan {
  return { ...plan, table: { ...plan.table, pinnable: false } };
}

/** Undefined if the update needs a transaction; then nothing was written. */
async function writeInOneStatement(run: Run, plan: UpdatePlan): Promise<SingleRow | undefined> {
  const { table, rollback, byKey, maxAffected } = plan;
  if (table.hasRewriteRules || table.rereads || rollback || mayEntangle(plan)) return undefined;
  if (byKey && !exceeds("1", maxAffected)) {
    const row = await takeWay(nameWay("key", plan), plan, () => writeByKey(run, plan));
    if (row !== REFUSED) return row;
  }
  if (!table.pinnable) return undefined;
  const compile = (sql: Sql) => compileUpdateSingle(sql, plan, run.settings);
  const row = await takeWay(
    nameWay("pin", plan),
    plan,
    () => writeAlone(run, compile, { brief: false }),
  );
  return row === REFUSED ? undefined : readClaimed(row);
}

/** Writes in a pipeline with other updates by key; undefined if the key is no longer unique. */
async function writeByKey(run: Run, plan: UpdatePlan): Promise<SingleRow | undefined> {
  const compile: Compile<KeyedRow> = (sql) => compileUpdateByKey(sql, plan, run.settings);
  try {
    const row = await run.writeByKey(
      { plan, compile },
      ({ paused }) => writeAlone(run, compile, { brief: !paused }),
    );
    return readKeyed(plan, readClaimed(row));
  } catch (error) {
    if (error instanceof DatabaseError && error.code === SECOND_ROW) return undefined;
    throw error;
  }
}

/** Returns the result of an update by key in the terms of a single update. */
export function readKeyed({ table }: UpdatePlan, row: KeyedRow): SingleRow {
  const { wanted, updated, keys, ...others } = row;
  return {
    ...others,
    matched: wanted === null ? "0" : "1",
    wanted: wanted === true,
    updated: updated === true ? "1" : "0",
    held: table.maySkip === true,
    keys: keys ?? null,
  };
}

async function writeAlone<R extends object>(
  run: Run,
  compile: Compile<R>,
  { brief }: { readonly brief: boolean },
): Promise<R> {
  const [row] = await run.database.run(compile, { write: true, brief, ...run.requester });
  return row!;
}

/**
 * True if the row should have been written and was not, because another request changed it meanwhile.
 * A row that the statement held was skipped by a trigger, which must not run again.
 * @see U64
 */
export function wasOvertaken(plan: UpdatePlan, row: SingleRow): boolean {
  return row.matched === "1" && row.wanted && row.updated === "0" && row.held !== true &&
    row.stale !== true && row.entangled !== true && !exceeds(row.matched, plan.maxAffected);
}

/** How often the transaction is repeated if the lock did not find the row that matches. */
export const MAX_REPEATS = 3;

/**
 * Locks, then writes the locked row. A lock that had to wait may find nothing: a row that came to
 * match meanwhile is newer than its snapshot. Such a row is neither locked nor written.
 */
async function writeInTransaction(run: Run, plan: UpdatePlan): Promise<SingleRow> {
  let version: string | undefined;
  for (let repeats = 0; repeats <= MAX_REPEATS; repeats++) {
    const row = plan.table.hasRewriteRules
      ? await writeRuled(run, plan)
      : await writeLocked(run, plan);
    if (row.locked > 0 || !wasOvertaken(plan, row)) return row;
    // Nobody has changed the row: row level security lets it be read, but not locked.
    if (version !== undefined && row.version === version) return row;
    version = row.version ?? undefined;
  }
  throw rejectContended();
}

/** Makes the 503 for rows that other requests keep changing. */
export function rejectContended(): ApiError {
  const message = "The rows are being changed by other requests; nothing was changed";
  return new ApiError(503, message, { headers: { "Retry-After": "1" } });
}

/** What one transaction did. */
interface LockedRow extends SingleRow {
  /** Rows that the lock found: 0, 1 or 2. */
  readonly locked: number;
}

async function writeLocked(run: Run, plan: UpdatePlan): Promise<LockedRow> {
  const { idempotency } = plan;
  let result: LockedRow | undefined;
  const locks = plan.removal === undefined || plan.table.lockable !== false;
  let locked = 0;
  const write: Step = (sql, before) => {
    locked = locks ? readLocked(before) : 0;
    const readsOnly = locks && locked === 0;
    // The transaction has claimed the key already, and keeps the answer.
    return compileUpdateSingle(sql, { ...plan, readsOnly, idempotency: undefined }, run.settings);
  };
  const take = ([row]: Rows) => {
    result = { ...row as SingleRow, locked };
  };
  const steps = [
    ...claimSteps(idempotency),
    ...(locks ? [(sql: Sql) => compileLock(sql, plan, run.settings)] : []),
    { steps: [write], take },
    ...rereadSteps(plan, () => result === undefined ? [] : [{ plan, keys: result.keys ?? null }]),
    ...returnSteps(plan, () => result!.keys ?? null, (row) => {
      result = { ...result!, ...row };
    }),
    ...keepSteps(idempotency, () => findAnswer(plan, result!)),
  ];
  await transact(run, { steps, rollback: plan.rollback });
  return result!;
}

/**
 * Returns the answer to store for a result; undefined if it is not decided, or not stored for such an
 * error.
 */
function findAnswer(plan: UpdatePlan, row: LockedRow): Answer | undefined {
  if (row.locked === 0 && wasOvertaken(plan, row)) return undefined;
  const rejection = findRejection(plan, row);
  return rejection === undefined ? [toKept(toWrittenOne(plan, row))] : answerOf(rejection);
}

async function writeRuled(run: Run, plan: UpdatePlan): Promise<LockedRow> {
  const maxRows = Math.min(1, plan.maxAffected ?? 1);
  return await updateWithRules(run, plan, {
    maxRows,
    lock: true,
    findRejection: (row) => findRejection(plan, row),
    findAnswer: (row) => findAnswer(plan, row),
  });
}

function checkResult(plan: UpdatePlan, row: SingleRow): WrittenOne {
  const rejection = findRejection(plan, row);
  if (rejection !== undefined) throw rejection;
  return toWrittenOne(plan, row);
}

const STALE = "If-Match: the row has another version by now, read it again; nothing was changed";

/** Returns the error that the client gets for a result; undefined for a 200. */
export function findRejection(plan: UpdatePlan, row: SingleRow): ApiError | undefined {
  const matched = Number(row.matched);
  const at = printAt(plan.path);
  if (matched === 0) return new ApiError(404, `${at}No row matches the filters`, { matched });
  if (matched > 1) {
    const all = plan.removal === undefined
      ? "to update them all, use the bulk operation (PATCH …/records/bulk)"
      : "to delete them all, use the bulk operation (DELETE …/records/bulk)";
    const message = `${at}${matched} rows match the filters, expected exactly one; ${all}`;
    return new ApiError(409, message, { matched });
  }
  if (exceeds(row.matched, plan.maxAffected)) return rejectExceeded(plan, row.matched);
  if (row.stale === true) return new ApiError(412, `${at}${STALE}`);
  if (row.entangled === true) return rejectReferred();
  const isSkipped = row.wanted && row.updated === "0";
  return isSkipped ? new ApiError(409, `${at}The database refused the change`) : undefined;
}
