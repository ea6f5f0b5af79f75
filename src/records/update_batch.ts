import { ApiError } from "../basics/errors/api_error.ts";
import type { BatchPlan, UpdatePlan } from "./plan/update_plan.ts";
import type { Step } from "../database/postgres/database.ts";
import { DatabaseError } from "../database/postgres/database_error.ts";
import type { Rows } from "../database/postgres/driver.ts";
import { SECOND_ROW } from "./sql/update_by_key.ts";
import { groupParts, listSteps, makePart, type PartResult } from "./batch_parts.ts";
import { explainAt } from "./explain_at.ts";
import {
  type Answer,
  answerOf,
  answerOnce,
  claimSteps,
  keepAlone,
  keepSteps,
} from "./answer_once.ts";
import { OvertakenError } from "./overtaken_error.ts";
import { exceeds, rejectExceeded } from "./max_affected.ts";
import { rereadSteps, type Written } from "./reread.ts";
import { type Run, settingSteps } from "./run.ts";
import {
  findRejection,
  MAX_REPEATS,
  rejectContended,
  wasOvertaken,
  withoutPin,
} from "./update_one.ts";
import { type BatchResult, parseBatchResults, updateEach } from "./update_each.ts";
import { REFUSED, takeWay } from "./ways.ts";
import { fromKept, returnSteps, toKept, toWrittenOne, type WrittenOne } from "./written_one.ts";

/**
 * Runs the single updates of a batch in one transaction, in order; each sees those before it. Gives
 * how many rows each has written: 0 if its row held the values already.
 *
 * Updates of one statement each are sent together at first. If another request changes a row
 * meanwhile, the batch is rolled back and run again, each update after a lock on its row.
 * @throws {ApiError} of the first update that fails, at its path in the body; 503 if other requests
 * keep changing the rows. Nothing was changed.
 * @throws {DatabaseError}
 * @see docs/specification/updates.md#batch-several-single-updates
 */
export function runBatchUpdate(
  run: Run,
  plan: BatchPlan,
  document: unknown,
): Promise<readonly BatchResult[]> {
  return answerOnce<readonly BatchResult[]>(run, plan.idempotency, {
    attempt: () => decideBatch(run, plan, document),
    replay: (answer) =>
      plan.failed === undefined ? replayBatch(plan, answer) : parseBatchResults(answer),
  });
}

/**
 * Gives the results of a batch from its stored answer.
 * @throws {ApiError} the stored 404 or 409
 */
function replayBatch(plan: BatchPlan, answer: Answer): WrittenOne[] {
  if (!("matched" in answer)) return answer.map(fromKept);
  throw findRejection(plan.updates[answer.place!]!, {
    matched: String(answer.matched),
    wanted: false,
    updated: "0",
  });
}

async function decideBatch(
  run: Run,
  plan: BatchPlan,
  document: unknown,
): Promise<readonly BatchResult[]> {
  const locks = plan.table.hasRewriteRules;
  const attempt = (some: BatchPlan, options: BatchOptions): Promise<readonly BatchResult[]> =>
    some.failed === undefined ? repeatBatch(run, some, options) : updateEach(run, some, document);
  const results = await takeWay("batch", plan, () => attempt(plan, { locks, document }));
  if (results !== REFUSED) return results;
  const unpinned = { ...plan, updates: plan.updates.map(withoutPin) };
  return await attempt(unpinned, { locks: true, document });
}

/**
 * Runs a batch until no other request changes its rows meanwhile; from the second attempt, each row
 * is locked first.
 */
async function repeatBatch(
  run: Run,
  plan: BatchPlan,
  { locks, document }: BatchOptions,
): Promise<readonly WrittenOne[]> {
  let before: string | undefined;
  for (let repeats = 0; repeats <= MAX_REPEATS; repeats++) {
    const results = await runTransaction(run, plan, { locks: locks || repeats > 0, document });
    if (!(results instanceof OvertakenError)) return results;
    const { rejection, version } = results;
    // Nobody has changed the row: row level security lets it be read, but not locked.
    if (version !== undefined && version === before) throw rejection;
    before = version;
  }
  throw rejectContended();
}

interface BatchOptions {
  /** True: lock each row before it is written. */
  readonly locks: boolean;
  readonly document: unknown;
}

/** An error if another request changed a row meanwhile; then nothing was written. */
async function runTransaction(
  run: Run,
  plan: BatchPlan,
  { locks, document }: BatchOptions,
): Promise<WrittenOne[] | OvertakenError> {
  const results: WrittenOne[] = [];
  const written: Written[] = [];
  let taken = 0;
  const updateOf = new Map<Step, UpdatePlan>();
  const parts = plan.updates.map((update, place) => {
    const part = makePart(run, update, locks);
    for (const step of part.steps.flatMap(listSteps)) updateOf.set(step, update);
    const take = (rows: Rows) => {
      taken = place;
      const result = part.read(rows);
      results[place] = checkResult(plan, place, result);
      written.push({ plan: update, keys: result.row.keys ?? null });
    };
    return { ...part, take };
  });
  let failed: UpdatePlan | undefined;
  const { idempotency } = plan;
  const steps = [
    ...settingSteps(run),
    ...claimSteps(idempotency),
    ...groupParts(parts),
    ...rereadSteps(plan, () => written),
    ...plan.updates.flatMap((update, place) =>
      returnSteps(update, () => written[place]!.keys ?? null, ({ record }) => {
        results[place] = { ...results[place]!, record: record! };
      })
    ),
    ...keepSteps(idempotency, () => results.map(toKept)),
  ];
  try {
    await run.database.transact(steps, {
      rollback: plan.rollback,
      onFailure: (step) => failed = updateOf.get(step),
      ...run.requester,
    });
    return results;
  } catch (error) {
    if (error instanceof OvertakenError) return error;
    if (error instanceof ApiError) {
      await keepRejection(run, plan, answerOf(error, taken));
      throw error;
    }
    if (!(error instanceof DatabaseError) || failed === undefined) throw error;
    if (error.code === SECOND_ROW && failed.byKey && !locks) return new OvertakenError();
    throw await explainAt(error, { run, plan: failed, document });
  }
}

/**
 * Stores the 404 or 409 of a batch that was rolled back. If that fails, the outcome is not decided:
 * another request with the key may have been quicker.
 */
async function keepRejection(
  run: Run,
  { idempotency }: BatchPlan,
  answer: Answer | undefined,
): Promise<void> {
  if (idempotency !== undefined && answer !== undefined) await keepAlone(run, idempotency, answer);
}

/**
 * Returns how many rows an update has written. `max-affected` limits the sum of all updates up to
 * this one.
 */
function checkResult(plan: BatchPlan, place: number, { row, locked }: PartResult): WrittenOne {
  const update = plan.updates[place]!;
  const { maxAffected } = plan;
  const rejection = findRejection(update, row);
  if (!locked && wasOvertaken(update, row)) {
    const version = row.version == null ? undefined : `${place} ${row.version}`;
    throw new OvertakenError({ version, rejection });
  }
  if (rejection !== undefined) throw rejection;
  const matched = String(place + 1);
  if (exceeds(matched, maxAffected)) {
    throw rejectExceeded({ path: update.path, maxAffected }, matched);
  }
  return toWrittenOne(update, row);
}
