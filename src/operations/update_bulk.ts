import type { Step } from "../postgres/database.ts";
import type { UpdatePlan } from "../plan/update_plan.ts";
import { type BulkRow, compileUpdateBulk } from "../sql/update_bulk.ts";
import { type Answer, type Call, entrantOf, settingsOf } from "./call.ts";
import { prepareUpdate, transact } from "./prepare_update.ts";
import { exceeds, refuseExceeded } from "./max_affected.ts";
import { writeRuled } from "./update_with_rules.ts";

/**
 * Update Bulk Records: changes fields of every row that matches; none is not an error.
 * @throws {ApiError} 400 the body; 403 and 404 the table; 409 conflicts, or more rows than
 * `max-affected`; 503 and 504 the database
 * @see docs/specification/updates.md#bulk-every-row
 */
export async function updateBulk(call: Call): Promise<Answer> {
  return await prepareUpdate(call, async (plan) => {
    const row = await writeRows(call, plan);
    if (row.exceeding != null) throw refuseExceeded(plan, row.exceeding);
    const table = JSON.stringify(plan.table.name);
    const json = `{"success":true,"table":${table},"updated":${row.updated}}`;
    return { json, rows: Number(row.updated) };
  });
}

async function writeRows(call: Call, plan: UpdatePlan): Promise<BulkRow> {
  if (plan.table.ruled) return await writeRuledRows(call, plan);
  const settings = settingsOf(call);
  if (plan.rollback) {
    const steps: Step[] = [(sql) => compileUpdateBulk(sql, plan, settings)];
    return await transact<BulkRow>(call, { steps, rollback: true });
  }
  const options = { write: true, ...entrantOf(call) };
  const [row] = await call.database.run((sql) => compileUpdateBulk(sql, plan, settings), options);
  return row!;
}

async function writeRuledRows(call: Call, plan: UpdatePlan): Promise<BulkRow> {
  const { maxAffected } = plan;
  const { matched, updated } = await writeRuled(call, plan, { maxRows: maxAffected, lock: false });
  return { updated, exceeding: exceeds(matched, maxAffected) ? matched : null };
}
