import { ApiError } from "../basics/errors/api_error.ts";
import type { AfterFailure, TransactionStep } from "../database/postgres/database.ts";
import { DatabaseError } from "../database/postgres/database_error.ts";
import type { CreatePlan, NewRecord } from "./plan/create_plan.ts";
import { claimSteps, keepSteps } from "./answer_once.ts";
import { explainRecords, isOfRecord, type RefusedRecord } from "./explain_records.ts";
import { readAgainSteps } from "./insert_steps.ts";
import { rereadSteps } from "./reread.ts";
import { type Run, transact, withReader } from "./run.ts";
import type { CreatedRow } from "./sql/create.ts";
import { compileAudit, compileAuditOfRecords } from "./sql/audit.ts";

/** What became of a record. */
export type Outcome = "created" | "updated" | "unchanged";

/** A record that was written, or whose row holds its values already. */
export interface WrittenRecord extends CreatedRow {
  readonly outcome: Outcome;
}

/** A record that was refused by itself, with `Prefer: on-error=continue`. */
export interface FailedItem {
  readonly status: number;
  readonly error: string;
  readonly matched?: number | undefined;
}

/** The result of one record. */
export type RecordResult = WrittenRecord | FailedItem;

/** How an operation writes records. */
export interface WriteWay<Record extends NewRecord> {
  /**
   * Makes the steps that write records, and put the result of each. A transaction may be repeated, so
   * the steps keep nothing from an attempt before.
   */
  readonly makeSteps: (
    records: readonly Record[],
    put: (record: Record, result: WrittenRecord) => void,
  ) => readonly TransactionStep[];
  /** True: the audit has an entry for each record; false: one for the request. */
  readonly auditsEach: boolean;
  /** Reports whether the records may be written once more after an error. */
  readonly mayRepeat: (error: unknown) => boolean;
}

/** How often records are written at most, while other requests create and delete their rows. */
const MAX_REPEATS = 5;

/** A write of records that runs as one transaction. */
export interface RecordsWrite<Record extends NewRecord> extends WriteWay<Record> {
  readonly run: Run;
  readonly plan: Omit<CreatePlan, "records"> & { readonly records: readonly Record[] };
  readonly document: unknown;
}

/**
 * Writes records in one transaction, all or none; or, if the request says so, each in a savepoint. Gives the
 * result of each in the order of the request.
 * @throws {ApiError} the database refuses a record: at its path in the body; nothing was written
 * @throws {DatabaseError}
 * @see docs/specification/creating.md, docs/specification/upserting.md
 */
export async function writeRecords<Record extends NewRecord>(
  write: RecordsWrite<Record>,
): Promise<readonly RecordResult[]> {
  const { run, plan, document } = write;
  const results: RecordResult[] = [];
  const steps = [
    ...claimSteps(plan.idempotency),
    ...(plan.failed === undefined
      ? makeUnit(write, plan.records, results)
      : makeItems(write, results)),
    ...auditSteps(write, results),
    ...keepSteps(plan.idempotency, () => results.map(printKept)),
  ];
  for (let repeats = 0;; repeats++) {
    try {
      await transact(run, { steps, rollback: plan.rollback });
      return results;
    } catch (error) {
      if (repeats < MAX_REPEATS && write.mayRepeat(error)) continue;
      const findRefused = () => findRefusedRecord(write);
      throw await explainRecords(error, { run, plan, document, findRefused });
    }
  }
}

/** Makes the steps of records that are written together, with a second look at their rows if needed. */
function makeUnit<Record extends NewRecord>(
  { plan, makeSteps }: RecordsWrite<Record>,
  records: readonly Record[],
  results: RecordResult[],
): TransactionStep[] {
  const written = () => records.map(({ place }) => results[place] as WrittenRecord);
  const writtenKeys = () =>
    written().flatMap(({ reread, outcome }, position) =>
      outcome === "unchanged" ? [] : [{ plan: records[position]!, keys: `[${reread}]` }]
    );
  return [
    ...makeSteps(records, ({ place }, result) => results[place] = result),
    ...rereadSteps(plan, writtenKeys, plan.rereads),
    ...readAgainSteps(plan, written, (position, record) => {
      const { place } = records[position]!;
      results[place] = { ...results[place] as WrittenRecord, record };
    }),
  ];
}

/** Makes the steps of `Prefer: on-error=continue`: each record in a savepoint. */
function makeItems<Record extends NewRecord>(
  write: RecordsWrite<Record>,
  results: RecordResult[],
): TransactionStep[] {
  const { run, plan, document } = write;
  for (const [place, error] of plan.failed!) results[place] = toFailedItem(error);
  return plan.records.map((record) => {
    const attempted = makeUnit(write, [record], results);
    let repeats = 0;
    return {
      attempted,
      async onFailed(error, read): Promise<AfterFailure> {
        if (repeats++ < MAX_REPEATS && write.mayRepeat(error)) return "again";
        repeats = 0;
        const one = { ...plan, records: [record] };
        const inside = withReader(run, read);
        const explained = await explainRecords(error, { run: inside, plan: one, document });
        if (!isOfRecord(explained)) return "end";
        results[record.place] = toFailedItem(explained);
        return "next";
      },
    };
  });
}

/** Returns what a response says of a record that was refused by itself. */
export function toFailedItem({ status, message, matched }: ApiError): FailedItem {
  return { status, error: message, ...(matched !== undefined && { matched }) };
}

/**
 * Finds the record for which the database fails, by writing each alone in a transaction that is rolled
 * back. Undefined if none fails alone.
 */
export async function findRefusedRecord<Record extends NewRecord>(
  write: RecordsWrite<Record>,
): Promise<RefusedRecord | undefined> {
  const { run, plan } = write;
  let refused: RefusedRecord | undefined;
  const alone = { ...write, plan: { ...plan, representation: false } };
  const steps = plan.records.map((record): TransactionStep => ({
    attempted: makeUnit(alone, [record], []),
    onFailed: (error) => {
      refused = { error, record };
      return Promise.resolve("end");
    },
  }));
  try {
    await transact(run, { steps, rollback: true });
  } catch (error) {
    if (!(error instanceof ApiError) && !(error instanceof DatabaseError)) throw error;
  }
  return refused;
}

function auditSteps<Record extends NewRecord>(
  { plan: { audit, records }, auditsEach }: RecordsWrite<Record>,
  results: readonly RecordResult[],
): TransactionStep[] {
  if (audit === undefined) return [];
  return [(sql) => {
    const done = records.flatMap((record) => {
      const result = results[record.place]!;
      const fields = record.assignments.map(({ column }) => column.name);
      return "outcome" in result ? [{ fields, outcome: result.outcome }] : [];
    });
    const count = sql`${String(done.length)}::text::int8`;
    if (done.length === 0) return sql`select where false`;
    return auditsEach
      ? compileAuditOfRecords(sql, audit, done)
      : compileAudit(sql, audit, { matched: count, updated: count });
  }];
}

function printKept(result: RecordResult): string {
  if (!("outcome" in result)) return JSON.stringify(result);
  const { key, record, outcome } = result;
  return JSON.stringify([key, record, outcome]);
}

/** Gives the result of a record from its part of an answer that was kept. */
export function parseKept(text: string): RecordResult {
  const kept: unknown = JSON.parse(text);
  if (!Array.isArray(kept)) return kept as FailedItem;
  const [key, record, outcome = "created"] = kept;
  return { key, record, outcome, reread: null };
}
