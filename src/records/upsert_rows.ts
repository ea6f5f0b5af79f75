import { rejectIssues, under } from "../basics/errors/issue.ts";
import { describeReadOnly } from "./plan/assignment.ts";
import type { UpsertPlan, UpsertRecord } from "./plan/upsert_plan.ts";
import type { StepGroup, TransactionStep } from "../database/postgres/database.ts";
import { DatabaseError } from "../database/postgres/database_error.ts";
import type { Rows } from "../database/postgres/driver.ts";
import { groupAlike, groupRecords, refersToItself } from "./sql/record_groups.ts";
import {
  compileFindMatches,
  compileUpdateFound,
  type FoundPart,
  type FoundRows,
  type UpdatedRows,
  type WrittenPart,
} from "./sql/upsert.ts";
import { answerOnce } from "./answer_once.ts";
import { insertSteps, pipelineGroups, rejectSkipped } from "./insert_steps.ts";
import type { Run } from "./run.ts";
import {
  parseKept,
  type RecordResult,
  writeRecords,
  type WriteWay,
  type WrittenRecord,
} from "./write_records.ts";

type Put = (record: UpsertRecord, result: WrittenRecord) => void;

/**
 * Creates each record, or updates the row that has its match values; all or none. Gives the key of each
 * and what was done, in the order of the request.
 *
 * The rows that are there are locked first, so they stay as they are. A row that another request creates
 * meanwhile breaks the key: the transaction is rolled back and run again, and finds it. One that is
 * never found is another tenant's, or hidden.
 * @throws {ApiError} a record is refused: at its path in the body; nothing was written
 * @throws {DatabaseError}
 * @see docs/specification/upserting.md
 */
export function upsertRows(
  run: Run,
  plan: UpsertPlan,
  document: unknown,
): Promise<readonly RecordResult[]> {
  return answerOnce(run, plan.idempotency, {
    attempt: () => writeRecords({ run, plan, document, ...upsertWay(plan, document) }),
    replay: (answer) => (answer as readonly string[]).map(parseKept),
  });
}

/** Makes the way to write records that looks for their rows. */
function upsertWay(plan: UpsertPlan, document: unknown): WriteWay<UpsertRecord> {
  const written = new Map<number, UpsertRecord>();
  return {
    auditsEach: true,
    mayRepeat: breaksUniqueKey,
    makeSteps(records, put) {
      let found: ReadonlySet<number> = new Set();
      const isFirst = records[0] === plan.records[0];
      const find: StepGroup = {
        steps: [(sql) => {
          if (isFirst) written.clear();
          return compileFindMatches(sql, plan, [...written.values(), ...records]);
        }],
        take([row]: Rows) {
          found = readFound(row as FoundRows, records, document);
        },
      };
      const keep: Put = (record, result) => {
        written.set(record.place, record);
        put(record, result);
      };
      const write = (): readonly TransactionStep[] => [
        ...updateSteps(
          plan,
          { records: records.filter(({ place }) => found.has(place)), document },
          keep,
        ),
        ...createSteps(plan, records.filter(({ place }) => !found.has(place)), keep),
      ];
      return [find, { later: write }];
    },
  };
}

/** Another request may have created the row since it was looked for. */
function breaksUniqueKey(error: unknown): boolean {
  return error instanceof DatabaseError && error.code === UNIQUE_VIOLATION && !error.inFunction &&
    error.relation?.startsWith("rowgate.") !== true;
}

const UNIQUE_VIOLATION = "23505";

/**
 * Reads for which records a row was found.
 * @throws {ApiError} 400 a record has the match values of one before it, or cannot be created
 * @see UP5, UP9
 */
function readFound(
  { repeated, found }: FoundRows,
  records: readonly UpsertRecord[],
  document: unknown,
): ReadonlySet<number> {
  const again = records.find(({ place }) => String(place) === repeated);
  if (again !== undefined) {
    const message = "The match values are those of a record before it, expected each row once";
    throw rejectIssues([{ path: again.path, message }], document);
  }
  const places = new Set<number>(JSON.parse(found ?? "[]"));
  const faults = records.flatMap(({ place, faults }) => places.has(place) ? [] : faults);
  if (faults.length > 0) throw rejectIssues(faults, document, { stale: true });
  return places;
}

function updateSteps(
  plan: UpsertPlan,
  { records, document }: { readonly records: readonly UpsertRecord[]; readonly document: unknown },
  put: Put,
): StepGroup[] {
  return pipelineGroups(groupAlike(records), {
    compile: (sql, group) => compileUpdateFound(sql, plan, group),
    take(row, group) {
      const { found, written } = row as UpdatedRows;
      const rows = new Map(
        (JSON.parse(found ?? "[]") as FoundPart[]).map((part) => [part[0], part]),
      );
      const parts = (JSON.parse(written ?? "[]") as WrittenPart[]).map((part) =>
        [part[0], part] as const
      );
      const updated = new Map(parts);
      for (const record of group.records) {
        const row = rows.get(record.place);
        if (row === undefined) throw rejectSkipped([record]);
        rejectFixed(record, row, document);
        const after = updated.get(record.place);
        if (row[4] && after === undefined) throw rejectSkipped([record]);
        const [, key, shown, reread] = after ?? row;
        put(record, {
          outcome: after === undefined ? "unchanged" : "updated",
          ...{ key, record: shown, reread },
        });
      }
    },
  });
}

/**
 * Rejects a record that has another value than its row in a column that cannot be updated.
 * @throws {ApiError} 400 at each of them
 * @see UP8
 */
function rejectFixed(
  { fixed, path }: UpsertRecord,
  [, , , , , differ]: FoundPart,
  document: unknown,
): void {
  const issues = fixed.filter((_, place) => differ[place]).map(({ column }) => ({
    path: under(path, column.name),
    message: `${
      describeReadOnly(column, column.readOnly)
    } in a row that exists, expected its value`,
  }));
  if (issues.length > 0) throw rejectIssues(issues, document);
}

/**
 * Gives the steps that create records: those that name the same columns together, in the order of their
 * match values, so that requests with the same new rows wait for each other in one order.
 */
function createSteps(plan: UpsertPlan, records: readonly UpsertRecord[], put: Put): StepGroup[] {
  const { table } = plan;
  const sorted = refersToItself(table) ? records : sortByMatch(records);
  return insertSteps(plan, groupRecords({ table, records: sorted }), (record, row) => {
    put(record as UpsertRecord, { ...row, outcome: "created" });
  });
}

function sortByMatch(records: readonly UpsertRecord[]): readonly UpsertRecord[] {
  const named = groupAlike(records).flatMap((group, number) =>
    group.records.map((record) => ({
      record,
      name: JSON.stringify([number, record.matched.map(({ value }) => value?.text)]),
    }))
  );
  return named.sort((a, b) => a.name < b.name ? -1 : 1).map(({ record }) => record);
}
