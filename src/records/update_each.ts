import type { ApiError } from "../basics/errors/api_error.ts";
import type { AfterFailure, AttemptedSteps } from "../database/postgres/database.ts";
import { DatabaseError } from "../database/postgres/database_error.ts";
import type { Rows } from "../database/postgres/driver.ts";
import type { BatchPlan, UpdatePlan } from "./plan/update_plan.ts";
import { type Answer, claimSteps, keepSteps } from "./answer_once.ts";
import { groupParts, makePart } from "./batch_parts.ts";
import { explainAt } from "./explain_at.ts";
import { isErrorOfRecord, isOfRecord } from "./explain_records.ts";
import { exceeds, rejectExceeded } from "./max_affected.ts";
import { OvertakenError } from "./overtaken_error.ts";
import { rereadSteps } from "./reread.ts";
import { type Run, transact, withReader } from "./run.ts";
import { findRejection, MAX_REPEATS, rejectContended, wasOvertaken } from "./update_one.ts";
import { type FailedItem, toFailedItem } from "./write_records.ts";
import { fromKept, returnSteps, toKept, toWrittenOne, type WrittenOne } from "./written_one.ts";

/** The result of one update of a batch. */
export type BatchResult = WrittenOne | FailedItem;

/**
 * Runs the updates of a batch with `Prefer: on-error=continue`: each in a savepoint, so that one that is
 * refused does not undo the others. Each locks its row first.
 * @throws {ApiError} 409 more rows match in all than `max-affected` allows; nothing was changed
 * @throws {DatabaseError}
 * @see OE1
 */
export async function updateEach(
  run: Run,
  plan: BatchPlan,
  document: unknown,
): Promise<readonly BatchResult[]> {
  const { idempotency, rollback, failed = [] } = plan;
  const results: BatchResult[] = [];
  for (const [place, error] of failed) results[place] = toFailedItem(error);
  const steps = [
    ...claimSteps(idempotency),
    ...plan.updates.map((update) => attemptUpdate({ run, plan, update, document, results })),
    ...keepSteps(idempotency, () => results.map(printBatchResult)),
  ];
  try {
    await transact(run, { steps, rollback });
  } catch (error) {
    throw error instanceof OvertakenError ? rejectContended() : error;
  }
  return results;
}

/** Gives the results of such a batch from its stored answer. */
export function parseBatchResults(answer: Answer): readonly BatchResult[] {
  return (answer as readonly string[]).map((text) => {
    const result = JSON.parse(text);
    return "kept" in result ? fromKept(result.kept) : result as FailedItem;
  });
}

function printBatchResult(result: BatchResult): string {
  return JSON.stringify("status" in result ? result : { kept: toKept(result) });
}

interface Attempted {
  readonly run: Run;
  readonly plan: BatchPlan;
  readonly update: UpdatePlan;
  readonly document: unknown;
  readonly results: BatchResult[];
}

function attemptUpdate({ run, plan, update, document, results }: Attempted): AttemptedSteps {
  const place = update.path!.key as number;
  const part = makePart(run, update, true);
  let keys: string | null = null;
  let excess: ApiError | undefined;
  let repeats = 0;
  const take = (rows: Rows) => {
    const { row, locked } = part.read(rows);
    if (!locked && wasOvertaken(update, row)) throw new OvertakenError();
    const rejection = findRejection(update, row);
    if (rejection !== undefined) throw rejection;
    keys = row.keys ?? null;
    delete results[place];
    const matched = String(results.filter((each) => "updated" in each).length + 1);
    excess = exceeds(matched, plan.maxAffected)
      ? rejectExceeded({ ...update, ...plan }, matched)
      : undefined;
    if (excess !== undefined) throw excess;
    results[place] = toWrittenOne(update, row);
  };
  return {
    attempted: [
      ...groupParts([{ ...part, take }]),
      ...rereadSteps(plan, () => [{ plan: update, keys }]),
      ...returnSteps(update, () => keys, ({ record }) => {
        results[place] = { ...results[place] as WrittenOne, record: record! };
      }),
    ],
    async onFailed(error, read): Promise<AfterFailure> {
      if (error instanceof OvertakenError && repeats++ < MAX_REPEATS) return "again";
      repeats = 0;
      if (excess !== undefined || error instanceof OvertakenError) return "end";
      const isDatabaseError = error instanceof DatabaseError;
      if (isDatabaseError && !isErrorOfRecord(error)) return "end";
      const explained = isDatabaseError
        ? await explainAt(error, { run: withReader(run, read), plan: update, document })
        : error;
      if (!isOfRecord(explained)) return "end";
      results[place] = toFailedItem(explained);
      return "next";
    },
  };
}
