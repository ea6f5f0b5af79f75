import { ApiError } from "../basics/errors/api_error.ts";
import { printAt } from "../basics/errors/issue.ts";
import { MAX_PIPELINED_STATEMENTS } from "../basics/errors/limits.ts";
import type { CreatePlan, NewRecord } from "./plan/create_plan.ts";
import type { Step, StepGroup } from "../database/postgres/database.ts";
import type { Fragment, Rows, Sql } from "../database/postgres/driver.ts";
import {
  compileCreate,
  compileInsert,
  compileReadCreated,
  type CreatedList,
  type CreatedRow,
} from "./sql/create.ts";
import type { RecordGroup } from "./sql/record_groups.ts";

/** Takes the row of a record that was written. A transaction that is repeated gives it again. */
export type PutRow<Record extends NewRecord> = (record: Record, row: CreatedRow) => void;

/** Gives the steps that insert groups of records; statements that can be are sent together. */
export function insertSteps<Record extends NewRecord>(
  plan: CreatePlan,
  groups: readonly RecordGroup<Record>[],
  put: PutRow<Record>,
): StepGroup[] {
  const putAll = ({ records }: RecordGroup<Record>, rows: readonly CreatedRow[]) => {
    for (const [place, row] of rows.entries()) put(records[place]!, row);
  };
  if (plan.table.inserts.hasRewriteRules) {
    // Postgres applies no rules inside of WITH.
    return groups.map((group) => ({
      steps: [(sql: Sql) => compileInsert(sql, plan, group)],
      take(rows: Rows) {
        if (rows.length !== group.records.length) throw rejectSkipped(group.records);
        putAll(group, rows as unknown as readonly CreatedRow[]);
      },
    }));
  }
  return pipelineGroups(groups, {
    compile: (sql, group) => compileCreate(sql, plan, { group, settings: [] }),
    take: (row, group) => putAll(group, readCreated(row as CreatedList, group.records)),
  });
}

/** How the records of a group are written by a statement that gives one row. */
interface GroupStatement<Record extends NewRecord> {
  readonly compile: (sql: Sql, group: RecordGroup<Record>) => Fragment;
  readonly take: (row: unknown, group: RecordGroup<Record>) => void;
}

/** Gives the steps that write groups of records, as many at once as a session may be sent. */
export function pipelineGroups<Record extends NewRecord>(
  groups: readonly RecordGroup<Record>[],
  { compile, take }: GroupStatement<Record>,
): StepGroup[] {
  const steps: StepGroup[] = [];
  for (let from = 0; from < groups.length; from += MAX_PIPELINED_STATEMENTS) {
    const sent = groups.slice(from, from + MAX_PIPELINED_STATEMENTS);
    steps.push({
      steps: sent.map((group) => (sql: Sql) => compile(sql, group)),
      take: (rows: Rows) => rows.forEach((row, place) => take(row, sent[place]!)),
    });
  }
  return steps;
}

/**
 * Reads the rows of records that one statement has inserted.
 * @throws {ApiError} 409 the database has skipped a row
 */
export function readCreated(
  row: CreatedList | undefined,
  records: readonly NewRecord[],
): CreatedRow[] {
  const list = JSON.parse(row?.created ?? "[]") as (string | null)[][];
  if (list.length !== records.length) throw rejectSkipped(records);
  return list.map(([key, record, reread]) => ({
    key: key ?? null,
    record: record ?? null,
    reread: reread ?? null,
  }));
}

/**
 * Gives the step that reads the rows again where something may have changed them after they were
 * written; none elsewhere.
 */
export function readAgainSteps(
  plan: CreatePlan,
  find: () => readonly CreatedRow[],
  put: (place: number, record: string) => void,
): StepGroup[] {
  if (!plan.representation || !plan.rereads) return [];
  const read: Step = (sql) =>
    compileReadCreated(sql, plan, `[${find().map(({ reread }) => reread).join()}]`);
  const take = (rows: Rows) => {
    for (const [place, { record }] of (rows as unknown as { record: string }[]).entries()) {
      put(place, record);
    }
  };
  return [{ steps: [read], take }];
}

/**
 * Makes the 409 for records that the database did not write, without an error; at the path of the record
 * if there is only one.
 * @see CR9
 */
export function rejectSkipped(records: readonly Pick<NewRecord, "path">[]): ApiError {
  const path = records.length === 1 ? records[0]!.path : null;
  return new ApiError(409, `${printAt(path)}The database refused the change`);
}
