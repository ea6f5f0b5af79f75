import type { ApiError } from "../basics/errors/api_error.ts";
import type { UpdatePlan } from "./plan/update_plan.ts";
import type { Step, StepGroup } from "../database/postgres/database.ts";
import type { Rows } from "../database/postgres/driver.ts";
import type { ReturnedRow } from "./sql/returned.ts";
import { compileLock, readLocked, type SingleRow } from "./sql/update_single.ts";
import {
  compileAuditWithRules,
  compileDecision,
  compileUpdateWithRules,
  type Decision,
} from "./sql/update_with_rules.ts";
import { type Answer, claimSteps, keepSteps } from "./answer_once.ts";
import { exceeds } from "./max_affected.ts";
import { rereadSteps } from "./reread.ts";
import { type Run, settingSteps } from "./run.ts";
import { returnRemovedSteps, returnSteps } from "./written_one.ts";

/** What became of an update of a table with rules. */
export interface RuledResult extends Decision, ReturnedRow {
  /** Rows that the rules let through, as digits. */
  readonly updated: string;
  /** Rows that the lock found; 0 without a lock. */
  readonly locked: number;
}

/** How an update of a table with rules is run. */
interface RulesOptions {
  /** Rows that may match at most. */
  readonly maxRows: number | undefined;
  /** True: lock the rows that decide first. */
  readonly lock: boolean;
  /** Returns the error for a result; undefined for a 200. The audit has no row for an error. */
  readonly findRejection: (result: SingleRow) => ApiError | undefined;
  /** Takes the row as it was before it is removed. */
  readonly put?: (row: ReturnedRow) => void;
}

/** How such an update is run in a transaction of its own. */
interface AloneOptions extends RulesOptions {
  /** Returns the answer to store; undefined: none. */
  readonly findAnswer: (result: RuledResult) => Answer | undefined;
}

/**
 * Updates a table that has rewrite rules, in a transaction: locks the rows that decide (for a single
 * update), counts them, writes if no more than `maxRows` match, and records the update in the audit.
 * @see docs/decisions/0025-transactions.md
 */
export async function updateWithRules(
  run: Run,
  plan: UpdatePlan,
  { maxRows, lock, findRejection, findAnswer }: AloneOptions,
): Promise<RuledResult> {
  let returned: ReturnedRow = {};
  const put = (row: ReturnedRow) => returned = row;
  const { steps, read } = makeRuledSteps(plan, { maxRows, lock, findRejection, put });
  const written = () => [{ plan, keys: read().keys ?? null }];
  const result = () => ({ ...read(), ...returned });
  const { idempotency } = plan;
  const all = [
    ...settingSteps(run),
    ...claimSteps(idempotency),
    ...steps,
    ...rereadSteps(plan, written),
    ...returnSteps(plan, () => read().keys ?? null, put),
    ...keepSteps(idempotency, () => findAnswer(result())),
  ];
  await run.database.transact(all, {
    rollback: plan.rollback,
    ...run.requester,
  });
  return result();
}

/** Makes the steps of such an update, and the function that reads its result after they have run. */
export function makeRuledSteps(
  plan: UpdatePlan,
  { maxRows, lock, findRejection, put = () => {} }: RulesOptions,
): { readonly steps: readonly (Step | StepGroup)[]; readonly read: () => RuledResult } {
  let decision: Decision = { matched: "0", wanted: false };
  let locked = 0;
  let keys: string | null = null;
  const decide: Step = (sql) => compileDecision(sql, plan);
  const write: Step = (sql, [row]) => {
    decision = row as Decision;
    // A matching row that was not locked may be changed by another request at any time.
    const writesNothing = exceeds(decision.matched, maxRows) || (lock && locked === 0) ||
      decision.stale === true || decision.entangled === true;
    if (!writesNothing) keys = decision.keys ?? null;
    return writesNothing ? sql`select where false` : compileUpdateWithRules(sql, plan, maxRows);
  };
  let updated = "0";
  const { audit } = plan;
  const count = ({ count }: Rows) => {
    updated = String(count);
  };
  const record: Step = (sql) => {
    const result = { ...decision, updated };
    return audit === undefined || findRejection(result) !== undefined
      ? sql`select where false`
      : compileAuditWithRules(sql, audit, result);
  };
  const takeLocked = (rows: Rows) => {
    locked = readLocked(rows);
  };
  const takesLock: Step = (sql) => compileLock(sql, plan);
  const locks: StepGroup[] = lock ? [{ steps: [takesLock], take: takeLocked }] : [];
  const records: Step[] = audit === undefined ? [] : [record];
  const before = returnRemovedSteps(plan, put);
  const steps = [...locks, ...before, decide, { steps: [write], take: count }, ...records];
  return { steps, read: () => ({ ...decision, updated, locked, keys }) };
}
