import type { UpdatePlan } from "./plan/update_plan.ts";
import type { Step, StepGroup } from "../database/postgres/database.ts";
import type { Rows } from "../database/postgres/driver.ts";
import { compileReturnedLater, type ReturnedRow, returnsLater } from "./sql/returned.ts";

/** What a single update has done. */
export interface WrittenOne {
  /** Rows that were written: 0 if the row held the values already. */
  readonly updated: 0 | 1;
  /** The row as it is stored now, as JSON; only if the request asks for it. */
  readonly record?: string;
  /** Its version; left out where it has none. */
  readonly tag?: string;
}

/** Makes the result of an update from its row. */
export function toWrittenOne(
  { returned }: Pick<UpdatePlan, "returned">,
  { updated, record, tag }: ReturnedRow & { readonly updated: string },
): WrittenOne {
  const count = updated === "1" ? 1 : 0;
  if (returned === undefined) return { updated: count };
  return { updated: count, record: record!, ...(tag != null && { tag }) };
}

/** The same as part of an answer that is kept: a number where no row is returned. */
export function toKept(one: WrittenOne): number | WrittenOne {
  return one.record === undefined ? one.updated : one;
}

/** Makes the result of an update from its part of an answer that was kept. */
export function fromKept(kept: number | string | WrittenOne): WrittenOne {
  if (typeof kept !== "object") return { updated: Number(kept) === 1 ? 1 : 0 };
  const { updated, record, tag } = kept;
  return { updated, ...(record !== undefined && { record }), ...(tag != null && { tag }) };
}

/**
 * Gives the step of a transaction that reads the row of an update at its end, where a trigger or a rule may
 * have changed it behind the update; none elsewhere.
 * @see OR16
 */
export function returnSteps(
  plan: UpdatePlan,
  findKeys: () => string | null,
  put: (row: ReturnedRow) => void,
): StepGroup[] {
  if (!returnsLater(plan)) return [];
  const read: Step = (sql) => compileReturnedLater(sql, plan, findKeys());
  return [{ steps: [read], take: ([row]: Rows) => put((row ?? { record: null }) as ReturnedRow) }];
}

/** Gives the step that reads the row of a delete before a rule removes it; none elsewhere. @see DE17 */
export function returnRemovedSteps(
  plan: UpdatePlan,
  put: (row: ReturnedRow) => void,
): StepGroup[] {
  if (plan.removal === undefined || plan.returned === undefined) return [];
  const read: Step = (sql) => compileReturnedLater(sql, plan, null);
  return [{ steps: [read], take: ([row]: Rows) => put((row ?? { record: null }) as ReturnedRow) }];
}
