import { ApiError } from "../basics/errors/api_error.ts";
import { MAX_PIPELINED_STATEMENTS } from "../basics/errors/limits.ts";
import type { BatchPlan, UpdatePlan } from "./plan/update_plan.ts";
import type { Step, StepGroup } from "../database/postgres/database.ts";
import { DatabaseError } from "../database/postgres/database_error.ts";
import type { Rows } from "../database/postgres/driver.ts";
import { compileUpdateByKey, type KeyedRow, SECOND_ROW } from "./sql/update_by_key.ts";
import {
  compileLock,
  compileUpdateSingle,
  readLocked,
  type SingleRow,
} from "./sql/update_single.ts";
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
  readKeyed,
  rejectContended,
  wasOvertaken,
  withoutPin,
} from "./update_one.ts";
import { makeRuledSteps } from "./update_with_rules.ts";
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
): Promise<readonly WrittenOne[]> {
  return answerOnce(run, plan.idempotency, {
    attempt: () => decideBatch(run, plan, document),
    replay: (answer) => replayBatch(plan, answer),
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
): Promise<readonly WrittenOne[]> {
  const locks = plan.table.hasRewriteRules;
  const results = await takeWay("batch", plan, () => repeatBatch(run, plan, { locks, document }));
  if (results !== REFUSED) return results;
  const unpinned = { ...plan, updates: plan.updates.map(withoutPin) };
  return await repeatBatch(run, unpinned, { locks: true, document });
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
    for (const step of part.steps.flatMap(stepsOf)) updateOf.set(step, update);
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

/** What one update did. */
interface PartResult {
  readonly row: SingleRow;
  /** True when the row was locked before it was decided. */
  readonly locked: boolean;
}

/** The steps of one update, and the function that reads its result from the rows of the last step. */
interface Part {
  readonly steps: readonly (Step | StepGroup)[];
  readonly read: (rows: Rows) => PartResult;
}

function makePart(run: Run, update: UpdatePlan, locks: boolean): Part {
  const { table, byKey } = update;
  const { settings } = run;
  if (table.hasRewriteRules) {
    const { steps, read } = makeRuledSteps(update, {
      maxRows: 1,
      lock: true,
      findRejection: (row) => findRejection(update, row),
    });
    return { steps, read: () => ({ row: read(), locked: read().locked > 0 }) };
  }
  if (!locks && byKey) {
    const write: Step = (sql) => compileUpdateByKey(sql, update, settings);
    return {
      steps: [write],
      read: ([row]) => ({ row: readKeyed(update, row as KeyedRow), locked: false }),
    };
  }
  const readSingle = ([row]: Rows) => row as SingleRow;
  if (!locks && table.pinnable) {
    const write: Step = (sql) => compileUpdateSingle(sql, update, settings);
    return { steps: [write], read: (rows) => ({ row: readSingle(rows), locked: false }) };
  }
  let locked = false;
  const lock: Step = (sql) => compileLock(sql, update, settings);
  const write: Step = (sql, before) => {
    locked = readLocked(before) > 0;
    return compileUpdateSingle(sql, { ...update, readsOnly: !locked }, settings);
  };
  return { steps: [lock, write], read: (rows) => ({ row: readSingle(rows), locked }) };
}

function stepsOf(step: Step | StepGroup): readonly Step[] {
  return typeof step === "function" ? [step] : step.steps;
}

/**
 * Groups the updates: those of one statement each are sent together, as many as a session may be
 * sent.
 */
function groupParts(
  parts: readonly (Part & { readonly take: (rows: Rows) => void })[],
): (Step | StepGroup)[] {
  const grouped: (Step | StepGroup)[] = [];
  let group: { readonly steps: Step[]; readonly takes: ((rows: Rows) => void)[] } | undefined;
  for (const { steps, take } of parts) {
    const last = steps.at(-1)!;
    if (steps.length > 1 || typeof last !== "function") {
      group = undefined;
      const takeLast = (rows: Rows) => {
        if (typeof last !== "function") last.take(rows);
        take(rows);
      };
      grouped.push(...steps.slice(0, -1), { steps: stepsOf(last), take: takeLast });
    } else if (group !== undefined && group.steps.length < MAX_PIPELINED_STATEMENTS) {
      group.steps.push(last);
      group.takes.push(take);
    } else {
      const takes = [take];
      group = { steps: [last], takes };
      // Each of these statements gives one row.
      grouped.push({
        steps: group.steps,
        take: (rows) => rows.forEach((row, place) => takes[place]!(rowsOf(row))),
      });
    }
  }
  return grouped;
}

function rowsOf(row: Rows[number]): Rows {
  return Object.assign([row], { count: 1 });
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
