import type { Step } from "../database/database.ts";
import { ApiError } from "../errors.ts";
import type { UpdatePlan } from "../plan/update_plan.ts";
import { compileLock } from "../sql/lane.ts";
import { compileUpdateSingle, type SingleRow } from "../sql/update_single.ts";
import { type Answer, type Call, settingsOf } from "./call.ts";
import { prepareUpdate, transact } from "./prepare_update.ts";
import { refuseExceeded } from "./refuse_exceeded.ts";
import { writeRuled } from "./write_ruled.ts";

/**
 * Update Single Record: changes fields of exactly one row, or nothing.
 * @throws {ApiError} 400 the body; 403 and 404 the table; 404 `matched` 0; 409 `matched` N, or the
 * database refused the change; 503 and 504 the database
 * @see spec 4.2
 */
export async function updateSingle(call: Call): Promise<Answer> {
  return await prepareUpdate(call, async (plan, request) => {
    const result = await writeRow(call, plan);
    const updated = judgeResult(plan, result);
    const table = JSON.stringify(plan.table.name);
    const fields = JSON.stringify(request.document.fields);
    const json = `{"success":true,"table":${table},"matched":1,"updated":${updated},` +
      `"fields":${fields}}`;
    return { json, rows: updated };
  });
}

/**
 * One statement where a row version can be pinned; the lane where it can not, where the row changed
 * while the statement waited for it, and for `tx=rollback`.
 * @see RELIABILITY 3a
 */
async function writeRow(call: Call, plan: UpdatePlan): Promise<SingleRow> {
  const settings = settingsOf(call);
  if (plan.table.ruled) {
    const maxRows = Math.min(1, plan.maxAffected ?? 1);
    return await writeRuled(call, plan, { maxRows, lock: true });
  }
  if (plan.table.pinnable && !plan.rollback) {
    const options = { write: true, signal: call.signal };
    const [row] = await call.database.run(
      (sql) => compileUpdateSingle(sql, plan, settings),
      options,
    );
    if (!isOvertaken(plan, row!)) return row!;
  }
  return await writeLocked(call, plan);
}

/** How often the lane looks again when the row that matches was not yet there to be locked. */
const MAX_LANE_REPEATS = 3;

/**
 * Locks, then writes what was locked. A lock that waited in vain finds nothing, since a row that came
 * to match meanwhile is younger than its snapshot: nobody holds that one, so nothing is written.
 */
async function writeLocked(call: Call, plan: UpdatePlan): Promise<SingleRow> {
  const settings = settingsOf(call);
  for (let repeats = 0; repeats <= MAX_LANE_REPEATS; repeats++) {
    let locked = 0;
    const write: Step = (sql, before) => {
      locked = before.length;
      return compileUpdateSingle(sql, locked === 0 ? { ...plan, maxAffected: 0 } : plan, settings);
    };
    const steps: Step[] = [(sql) => compileLock(sql, plan), write];
    const row = await transact<SingleRow>(call, { steps, rollback: plan.rollback });
    if (locked > 0 || !isOvertaken(plan, row)) return row;
  }
  const message = "The rows are being changed by other requests; nothing was changed";
  throw new ApiError(503, message, { headers: { "Retry-After": "1" } });
}

function isOvertaken(plan: UpdatePlan, row: SingleRow): boolean {
  return row.wanted && row.updated === "0" && !isExceeded(plan, row);
}

function isExceeded(plan: UpdatePlan, row: SingleRow): boolean {
  return plan.maxAffected !== undefined && BigInt(row.matched) > BigInt(plan.maxAffected);
}

function judgeResult(plan: UpdatePlan, row: SingleRow): 0 | 1 {
  const matched = Number(row.matched);
  if (matched === 0) throw new ApiError(404, "No row matches the filters", { matched });
  if (matched > 1) {
    const message = `${matched} rows match the filters, expected exactly one; ` +
      "to update them all, use the bulk operation (PATCH …/records/bulk)";
    throw new ApiError(409, message, { matched });
  }
  if (isExceeded(plan, row)) throw refuseExceeded(plan, row.matched);
  if (row.wanted && row.updated === "0") {
    throw new ApiError(409, "The database refused the change");
  }
  return row.updated === "1" ? 1 : 0;
}
