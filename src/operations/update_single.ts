import type { Compile, Step } from "../postgres/database.ts";
import { ApiError } from "../errors/api_error.ts";
import { DatabaseError } from "../postgres/database_error.ts";
import type { UpdatePlan } from "../plan/update_plan.ts";
import { compileLock, compileUpdateSingle, type SingleRow } from "../sql/update_single.ts";
import { compileUpdateByKey, type KeyedRow, SECOND_ROW } from "../sql/update_by_key.ts";
import { type Answer, type Call, entrantOf, settingsOf } from "./call.ts";
import { prepareUpdate, transact } from "./prepare_update.ts";
import { exceeds, refuseExceeded } from "./max_affected.ts";
import { writeRuled } from "./update_with_rules.ts";

/**
 * Update Single Record: changes fields of exactly one row, or nothing.
 * @throws {ApiError} 400 the body; 403 and 404 the table; 404 `matched` 0; 409 `matched` N, or the
 * database refused the change; 503 and 504 the database
 * @see docs/specification/updates.md#single-exactly-one-row
 */
export async function updateSingle(call: Call): Promise<Answer> {
  return await prepareUpdate(call, async (plan, request) => {
    const result = await writeRow(call, plan);
    const updated = judgeResult(plan, result);
    const table = JSON.stringify(plan.table.name);
    const fields = request.words.print(request.document.fields);
    const json = `{"success":true,"table":${table},"matched":1,"updated":${updated},` +
      `"fields":${fields}}`;
    return { json, rows: updated };
  });
}

/**
 * One statement where the filters name the key or a row version can be pinned; the lane where neither
 * is so, where the row changed while the statement waited for it, and for `tx=rollback`.
 * @see P14, P16
 */
async function writeRow(call: Call, plan: UpdatePlan): Promise<SingleRow> {
  const row = await chooseStatement(plan)?.(call, plan);
  if (row !== undefined && !isOvertaken(plan, row)) return row;
  return await writeInLane(call, plan);
}

function chooseStatement({ table, rollback, byKey, maxAffected }: UpdatePlan) {
  if (table.ruled || rollback) return undefined;
  if (byKey && !exceeds("1", maxAffected)) return writeByKey;
  return table.pinnable ? writePinned : undefined;
}

async function writePinned(call: Call, plan: UpdatePlan): Promise<SingleRow> {
  const settings = settingsOf(call);
  return await writeAlone(call, (sql) => compileUpdateSingle(sql, plan, settings));
}

/** Undefined where the key is none any more: nothing was written. */
async function writeByKey(call: Call, plan: UpdatePlan): Promise<SingleRow | undefined> {
  const settings = settingsOf(call);
  const compile: Compile<KeyedRow> = (sql) => compileUpdateByKey(sql, plan, settings);
  try {
    const row = await call.writeByKey({ plan, compile }, () => writeAlone(call, compile));
    const matched = row.wanted === null ? "0" : "1";
    return { matched, wanted: row.wanted === true, updated: row.updated === true ? "1" : "0" };
  } catch (error) {
    if (error instanceof DatabaseError && error.code === SECOND_ROW) return undefined;
    throw error;
  }
}

async function writeAlone<R extends object>(call: Call, compile: Compile<R>): Promise<R> {
  const [row] = await call.database.run(compile, { write: true, ...entrantOf(call) });
  return row!;
}

/** How often the lane looks again when the row that matches was not yet there to be locked. */
const MAX_LANE_REPEATS = 3;

/**
 * Locks, then writes what was locked. A lock that waited in vain finds nothing, since a row that came
 * to match meanwhile is younger than its snapshot: nobody holds that one, so nothing is written.
 */
async function writeInLane(call: Call, plan: UpdatePlan): Promise<SingleRow> {
  for (let repeats = 0; repeats <= MAX_LANE_REPEATS; repeats++) {
    const row = plan.table.ruled ? await writeRuledRow(call, plan) : await writeLocked(call, plan);
    if (row.locked > 0 || !isOvertaken(plan, row)) return row;
  }
  const message = "The rows are being changed by other requests; nothing was changed";
  throw new ApiError(503, message, { headers: { "Retry-After": "1" } });
}

/** What became of one try in the lane. */
interface LockedRow extends SingleRow {
  /** Rows that the lock found: 0, 1 or 2. */
  readonly locked: number;
}

async function writeLocked(call: Call, plan: UpdatePlan): Promise<LockedRow> {
  const settings = settingsOf(call);
  let locked = 0;
  const write: Step = (sql, before) => {
    locked = before.length;
    return compileUpdateSingle(sql, { ...plan, readsOnly: locked === 0 }, settings);
  };
  const steps: Step[] = [(sql) => compileLock(sql, plan), write];
  const row = await transact<SingleRow>(call, { steps, rollback: plan.rollback });
  return { ...row, locked };
}

async function writeRuledRow(call: Call, plan: UpdatePlan): Promise<LockedRow> {
  const maxRows = Math.min(1, plan.maxAffected ?? 1);
  return await writeRuled(call, plan, { maxRows, lock: true });
}

function isOvertaken(plan: UpdatePlan, row: SingleRow): boolean {
  return row.matched === "1" && row.wanted && row.updated === "0" &&
    !exceeds(row.matched, plan.maxAffected);
}

function judgeResult(plan: UpdatePlan, row: SingleRow): 0 | 1 {
  const matched = Number(row.matched);
  if (matched === 0) throw new ApiError(404, "No row matches the filters", { matched });
  if (matched > 1) {
    const message = `${matched} rows match the filters, expected exactly one; ` +
      "to update them all, use the bulk operation (PATCH …/records/bulk)";
    throw new ApiError(409, message, { matched });
  }
  if (exceeds(row.matched, plan.maxAffected)) throw refuseExceeded(plan, row.matched);
  if (row.wanted && row.updated === "0") {
    throw new ApiError(409, "The database refused the change");
  }
  return row.updated === "1" ? 1 : 0;
}
