import type { CreatePlan } from "./plan/create_plan.ts";
import type { Sql } from "../database/postgres/driver.ts";
import { compileCreate } from "./sql/create.ts";
import { groupRecords } from "./sql/record_groups.ts";
import { answerOnce } from "./answer_once.ts";
import { explainRecords } from "./explain_records.ts";
import { insertSteps, readCreated } from "./insert_steps.ts";
import type { Run } from "./run.ts";
import {
  findRefusedRecord,
  parseKept,
  type RecordResult,
  writeRecords,
  type WriteWay,
} from "./write_records.ts";

/**
 * Inserts records, all or none, and gives the key of each in the order of the request.
 * @throws {ApiError} the database refuses a record: at its path in the body; nothing was written
 * @throws {DatabaseError}
 * @see docs/specification/creating.md
 */
export function createRows(
  run: Run,
  plan: CreatePlan,
  document: unknown,
): Promise<readonly RecordResult[]> {
  return answerOnce(run, plan.idempotency, {
    attempt: () => create(run, plan, document),
    replay: (answer) => (answer as readonly string[]).map(parseKept),
  });
}

async function create(
  run: Run,
  plan: CreatePlan,
  document: unknown,
): Promise<readonly RecordResult[]> {
  const { table, records } = plan;
  const groups = groupRecords({ table, records });
  if (groups.length > 1 || needsTransaction(plan)) {
    return await writeRecords({ run, plan, document, ...insertWay(plan) });
  }
  const [group] = groups;
  const { settings } = run;
  const compile = (sql: Sql) => compileCreate(sql, plan, { group: group!, settings });
  try {
    const rows = await run.database.run(compile, { write: true, ...run.requester });
    return readCreated(rows[0], records).map((row) => ({ ...row, outcome: "created" }));
  } catch (error) {
    const findRefused = () => findRefusedRecord({ run, plan, document, ...insertWay(plan) });
    throw await explainRecords(error, { run, plan, document, findRefused });
  }
}

function needsTransaction({ table, rollback, audit, idempotency, failed }: CreatePlan): boolean {
  return rollback || audit !== undefined || idempotency !== undefined || failed !== undefined ||
    table.inserts.rereads || table.inserts.hasRewriteRules;
}

/** Makes the way to write records that inserts each of them. */
function insertWay(plan: CreatePlan): WriteWay<CreatePlan["records"][number]> {
  const { table } = plan;
  return {
    makeSteps: (records, put) =>
      insertSteps(plan, groupRecords({ table, records }), (record, row) => {
        put(record, { ...row, outcome: "created" });
      }),
    auditsEach: false,
    mayRepeat: () => false,
  };
}
