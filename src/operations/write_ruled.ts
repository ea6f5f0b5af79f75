import type { Step } from "../database/database.ts";
import type { UpdatePlan } from "../plan/update_plan.ts";
import { compileLock } from "../sql/lane.ts";
import { compileDecision, compileUpdateRuled, type Decision } from "../sql/update_ruled.ts";
import { type Call, entrantOf } from "./call.ts";
import { startLane } from "./prepare_update.ts";
import { exceeds } from "./refuse_exceeded.ts";

/** What became of an update of a table with rules. */
export interface RuledResult extends Decision {
  /** Rows that the rules let through, as digits. */
  readonly updated: string;
  /** Rows that the lock found; 0 without a lock. */
  readonly locked: number;
}

/**
 * Updates a table with rules, in the lane: the rows that decide are locked (for a single update),
 * then counted, then written if no more match than `maxRows`.
 * @see docs/decisions/0006-rules.md
 */
export async function writeRuled(
  call: Call,
  plan: UpdatePlan,
  { maxRows, lock }: { maxRows: number | undefined; lock: boolean },
): Promise<RuledResult> {
  let decision: Decision = { matched: "0", wanted: false };
  let locked = 0;
  const decide: Step = (sql, before) => {
    locked = lock ? before.length : 0;
    return compileDecision(sql, plan);
  };
  const write: Step = (sql, [row]) => {
    decision = row as Decision;
    // What matches now and was not locked is held by nobody.
    const keeps = exceeds(decision.matched, maxRows) || (lock && locked === 0);
    return keeps ? sql`select where false` : compileUpdateRuled(sql, plan, maxRows);
  };
  const locks: Step[] = lock ? [(sql) => compileLock(sql, plan)] : [];
  const steps = [...startLane(call), ...locks, decide, write];
  const options = { rollback: plan.rollback, ...entrantOf(call) };
  const { count } = await call.database.transact(steps, options);
  return { ...decision, updated: String(count), locked };
}
