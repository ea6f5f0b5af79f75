import { ApiError } from "../basics/errors/api_error.ts";
import { MAX_PIPELINED_STATEMENTS } from "../basics/errors/limits.ts";
import type { CreatePlan } from "./plan/create_plan.ts";
import type { Step, StepGroup } from "../database/postgres/database.ts";
import type { Rows, Sql } from "../database/postgres/driver.ts";
import { compileAudit } from "./sql/audit.ts";
import {
  compileCreate,
  compileInsert,
  compileReadCreated,
  type CreatedList,
  type CreatedRow,
  groupRecords,
  type RecordGroup,
} from "./sql/create.ts";
import { answerOnce, claimSteps, keepSteps } from "./answer_once.ts";
import { explainCreate, type RefusedRecord, rejectSkipped } from "./explain_create.ts";
import { rereadSteps } from "./reread.ts";
import { type Run, transact } from "./run.ts";

/** A row that was created, as the response shows it. */
export type CreatedRecord = Pick<CreatedRow, "key" | "record">;

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
): Promise<readonly CreatedRecord[]> {
  return answerOnce(run, plan.idempotency, {
    attempt: () => create(run, plan, document),
    replay: (answer) => (answer as readonly string[]).map(parseAnswer),
  });
}

function printAnswer({ key, record }: CreatedRecord): string {
  return JSON.stringify([key, record]);
}

function parseAnswer(text: string): CreatedRecord {
  const [key, record] = JSON.parse(text) as (string | null)[];
  return { key: key ?? null, record: record ?? null };
}

async function create(run: Run, plan: CreatePlan, document: unknown): Promise<CreatedRecord[]> {
  const groups = groupRecords(plan);
  const [group] = groups;
  try {
    if (groups.length > 1 || needsTransaction(plan)) return await createTogether(run, plan, groups);
    const { settings } = run;
    const compile = (sql: Sql) => compileCreate(sql, plan, { group: group!, settings });
    const rows = await run.database.run(compile, { write: true, ...run.requester });
    return readList(rows[0], plan.records.length);
  } catch (error) {
    throw await explainCreate(error, {
      ...{ run, plan, document },
      findRefused: () => findRefused(run, plan),
    });
  }
}

function needsTransaction({ table, rollback, audit, idempotency }: CreatePlan): boolean {
  return rollback || audit !== undefined || idempotency !== undefined ||
    table.inserts.rereads || table.inserts.hasRewriteRules;
}

/** @throws {ApiError} 409 the database has skipped a row */
function readList(row: CreatedList | undefined, count: number): CreatedRow[] {
  const list = JSON.parse(row?.created ?? "[]") as (string | null)[][];
  if (list.length !== count) throw rejectSkipped(null);
  return list.map(([key, record, reread]) => ({
    key: key ?? null,
    record: record ?? null,
    reread: reread ?? null,
  }));
}

/** Runs several statements in one transaction. */
async function createTogether(
  run: Run,
  plan: CreatePlan,
  groups: readonly RecordGroup[],
): Promise<CreatedRecord[]> {
  const { table, idempotency, audit, records, rollback } = plan;
  const created: CreatedRow[] = [];
  const written = () =>
    created.map(({ reread }, place) => ({
      plan: { path: records[place]!.path },
      keys: reread === null ? null : `[${reread}]`,
    }));
  const count = sqlCount(records.length);
  const steps: (Step | StepGroup)[] = [
    ...claimSteps(idempotency),
    ...insertSteps(plan, { groups, take: (rows) => void created.push(...rows) }),
    ...rereadSteps(plan, written, table.inserts.rereads),
    ...readSteps(plan, created),
    ...(audit === undefined
      ? []
      : [(sql: Sql) => compileAudit(sql, audit, { matched: count(sql), updated: count(sql) })]),
    ...keepSteps(idempotency, () => created.map(printAnswer)),
  ];
  await transact(run, { steps, rollback });
  return created;
}

function sqlCount(count: number) {
  return (sql: Sql) => sql`${String(count)}::text::int8`;
}

/** Gives the steps that insert, those of one statement each sent together. */
function insertSteps(
  plan: CreatePlan,
  { groups, take }: {
    readonly groups: readonly RecordGroup[];
    readonly take: (rows: readonly CreatedRow[]) => void;
  },
): StepGroup[] {
  if (plan.table.inserts.hasRewriteRules) {
    // Postgres applies no rules inside of WITH.
    return groups.map((group) => ({
      steps: [(sql: Sql) => compileInsert(sql, plan, group)],
      take(rows: Rows) {
        if (rows.length !== group.records.length) throw rejectSkipped(null);
        take(rows as unknown as readonly CreatedRow[]);
      },
    }));
  }
  const steps: StepGroup[] = [];
  for (let from = 0; from < groups.length; from += MAX_PIPELINED_STATEMENTS) {
    const sent = groups.slice(from, from + MAX_PIPELINED_STATEMENTS);
    steps.push({
      steps: sent.map((group) => (sql: Sql) => compileCreate(sql, plan, { group, settings: [] })),
      take(rows: Rows) {
        for (const [place, row] of rows.entries()) {
          take(readList(row as unknown as CreatedList, sent[place]!.records.length));
        }
      },
    });
  }
  return steps;
}

/** Reads the rows again where something may have changed them after they were written. */
function readSteps(plan: CreatePlan, created: CreatedRow[]): StepGroup[] {
  if (!plan.representation || !plan.table.inserts.rereads) return [];
  const read: Step = (sql) => {
    const keys = `[${created.map(({ reread }) => reread).join()}]`;
    return compileReadCreated(sql, plan, keys);
  };
  const take = (rows: Rows) => {
    for (const [place, { record }] of (rows as unknown as { record: string }[]).entries()) {
      created[place] = { ...created[place]!, record };
    }
  };
  return [{ steps: [read], take }];
}

/**
 * Finds the record for which the database fails, by inserting each alone in a transaction that is rolled
 * back. Undefined if none fails alone.
 */
async function findRefused(
  run: Run,
  plan: CreatePlan,
): Promise<RefusedRecord | undefined> {
  const groups = plan.records.flatMap((record) =>
    groupRecords({ table: plan.table, records: [record] })
  );
  const places = new Map<Step, number>();
  const steps = insertSteps({ ...plan, representation: false }, { groups, take: () => {} });
  for (const step of steps.flatMap((group) => group.steps)) places.set(step, places.size);
  let failed: number | undefined;
  try {
    const onFailure = (step: Step) => failed = places.get(step);
    await transact(run, { steps, rollback: true, onFailure });
    return undefined;
  } catch (error) {
    if (failed === undefined || error instanceof ApiError) return undefined;
    return { error, record: plan.records[failed]! };
  }
}
