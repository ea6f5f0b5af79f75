import { ApiError } from "../basics/errors/api_error.ts";
import { printAt } from "../basics/errors/issue.ts";
import { describeConflict, OUT_OF_REACH } from "./database_status.ts";
import type { UpdatePlan } from "./plan/update_plan.ts";
import type { Step, StepGroup } from "../database/postgres/database.ts";
import type { Rows } from "../database/postgres/driver.ts";
import { FOREIGN_KEY_VIOLATION } from "./explain_conflict.ts";
import { compileReread, type RereadRow, type WrittenRow } from "./sql/reread.ts";

/** What an update has written, as far as its rows are read again. */
export interface Written extends WrittenRow {
  readonly plan: Pick<UpdatePlan, "path">;
}

/**
 * Gives the steps of a transaction that read rows again which updates before them have written: none
 * for most tables. Deferred triggers run first. A row that is out of reach ends the transaction with
 * a 409 at its update.
 * @see T86
 */
export function rereadSteps(
  plan: Pick<UpdatePlan, "table" | "scope" | "removal">,
  find: () => readonly Written[],
  isNeeded = plan.table.rereads === true,
): StepGroup[] {
  if (!isNeeded) return [];
  const listKeys = () =>
    find().flatMap(({ plan, keys }) => {
      const listed: unknown[] = JSON.parse(keys ?? "[]");
      return listed.map((key) => ({ plan, key }));
    });
  const settle: Step = (sql) => sql`set constraints all immediate`;
  const reread: Step = (sql) =>
    compileReread(sql, plan, JSON.stringify(listKeys().map(({ key }) => key)));
  const take = ([row]: Rows) => {
    const { moved, referring } = (row ?? {}) as Partial<RereadRow>;
    const place = moved ?? referring;
    if (place == null) return;
    const { plan } = listKeys()[Number(place) - 1]!;
    const message = moved == null
      ? describeConflict({ code: FOREIGN_KEY_VIOLATION })
      : OUT_OF_REACH;
    throw new ApiError(409, `${printAt(plan.path)}${message}`);
  };
  return [{ steps: [settle, reread], take }];
}
