import type { Step } from "../postgres/database.ts";
import type { UpdatePlan } from "../plan/update_plan.ts";
import { compileLock } from "../sql/update_single.ts";
import {
  compileAuditWithRules,
  compileDecision,
  compileUpdateWithRules,
  type Decision,
} from "../sql/update_with_rules.ts";
import { type Call, entrantOf } from "./call.ts";
import { startLane } from "./prepare_update.ts";
import { exceeds } from "./max_affected.ts";

/** What became of an update of a table with rules. */
export interface RuledResult extends Decision {
  /** Rows that the rules let through, as digits. */
  readonly updated: string;
  /** Rows that the lock found; 0 without a lock. */
  readonly locked: number;
}

/**
 * Updates a table with rules, in the lane: the rows that decide are locked (for a single update),
 * then counted, then written if no more match than `maxRows`, then told in the audit.
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
    return keeps ? sql`select where false` : compileUpdateWithRules(sql, plan, maxRows);
  };
  let updated = "0";
  const { audit } = plan;
  const tell: Step = (sql, { count }) => {
    updated = String(count);
    const { matched, wanted } = decision;
    // As the answer will be: 200 and nothing else leaves a row.
    const refused = exceeds(matched, maxRows) ||
      (lock && (matched !== "1" || (wanted && updated === "0")));
    return audit === undefined || refused
      ? sql`select where false`
      : compileAuditWithRules(sql, audit, { matched, updated });
  };
  const locks: Step[] = lock ? [(sql) => compileLock(sql, plan)] : [];
  const tells: Step[] = audit === undefined ? [] : [tell];
  const steps = [...startLane(call), ...locks, decide, write, ...tells];
  const options = { rollback: plan.rollback, ...entrantOf(call) };
  const { count } = await call.database.transact(steps, options);
  return { ...decision, updated: audit === undefined ? String(count) : updated, locked };
}
