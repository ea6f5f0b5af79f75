import type { ApiError } from "../basics/errors/api_error.ts";
import type { UpdatePlan } from "./plan/update_plan.ts";
import type { Compile, Step, StepGroup } from "../database/postgres/database.ts";
import type { Rows, Sql } from "../database/postgres/driver.ts";
import { type BulkRow, compileUpdateBulk } from "./sql/update_bulk.ts";
import { mayEntangle } from "./sql/removal.ts";
import { compileLockOfMany } from "./sql/update_single.ts";
import { answerOnce, readClaimed } from "./answer_once.ts";
import { exceeds, rejectExceeded } from "./max_affected.ts";
import { rejectReferred } from "./explain_removal.ts";
import { rereadSteps } from "./reread.ts";
import { type Run, transact } from "./run.ts";
import { updateWithRules } from "./update_with_rules.ts";

/**
 * Updates every row that matches, possibly none, and gives how many were written, as digits.
 * @throws {ApiError} 409 more rows match than `max-affected`
 * @throws {DatabaseError}
 * @see docs/specification/updates.md#bulk-every-row
 */
export function updateManyRows(run: Run, plan: UpdatePlan): Promise<string> {
  return answerOnce(run, plan.idempotency, {
    attempt: () => writeMany(run, plan),
    replay: (answer) => String((answer as readonly number[])[0]),
  });
}

async function writeMany(run: Run, plan: UpdatePlan): Promise<string> {
  const row = plan.table.hasRewriteRules ? await writeWithRules(run, plan) : await write(run, plan);
  if (row.exceeding != null) throw rejectExceeded(plan, row.exceeding);
  if (row.entangled === true) throw rejectReferred();
  return row.updated;
}

async function write(run: Run, plan: UpdatePlan): Promise<BulkRow> {
  const compile = (sql: Sql) => compileUpdateBulk(sql, plan, run.settings);
  const needsTransaction = plan.rollback || plan.table.rereads || mayEntangle(plan);
  if (needsTransaction) return await writeInTransaction(run, plan, compile);
  const [row] = await run.database.run(compile, { write: true, ...run.requester });
  return readClaimed(row!);
}

async function writeInTransaction(
  run: Run,
  plan: UpdatePlan,
  compile: Compile<BulkRow>,
): Promise<BulkRow> {
  let row: BulkRow | undefined;
  const take = ([written]: Rows) => {
    row = written as BulkRow | undefined;
  };
  const write: StepGroup = { steps: [compile], take };
  // No row that refers to the locked ones can come while these are looked at.
  const lock: Step = (sql) => {
    const maxRows = sql`${String(plan.maxAffected ?? 0)}::text::int8 + 1`;
    return compileLockOfMany(sql, plan, { settings: run.settings, maxRows });
  };
  const locks = mayEntangle(plan) ? [lock] : [];
  const steps = [...locks, write, ...rereadSteps(plan, () => [{ plan, keys: row?.keys ?? null }])];
  await transact(run, { steps, rollback: plan.rollback });
  return readClaimed(row!);
}

async function writeWithRules(run: Run, plan: UpdatePlan): Promise<BulkRow> {
  const { maxAffected } = plan;
  const isExceeded = ({ matched }: { readonly matched: string }) => exceeds(matched, maxAffected);
  const result = await updateWithRules(run, plan, {
    maxRows: maxAffected,
    lock: false,
    findRejection: (row) =>
      isExceeded(row) ? rejectExceeded(plan, row.matched) : findEntangled(row),
    findAnswer: (row) => isExceeded(row) || row.entangled === true ? undefined : [row.updated],
  });
  const { updated, entangled = null } = result;
  return { updated, entangled, exceeding: isExceeded(result) ? result.matched : null };
}

function findEntangled(
  { entangled }: { readonly entangled?: boolean | null },
): ApiError | undefined {
  return entangled === true ? rejectReferred() : undefined;
}
