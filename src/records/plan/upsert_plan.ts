import type { Column, Table } from "../../catalogue/catalogue.ts";
import { type Issue, pathOf, quote, rejectIssues, under } from "../../basics/errors/issue.ts";
import type { SentRecord, UpsertRequest } from "../../request/records_request.ts";
import { type Assignment, describeReadOnly } from "./assignment.ts";
import type { Findings } from "./column.ts";
import {
  type CreateOptions,
  type CreatePlan,
  listMissing,
  type NewRecord,
  planFields,
  planRecords,
  planRequest,
} from "./create_plan.ts";

/** A record that is created, or updates the row that has its match values. */
export interface UpsertRecord extends NewRecord {
  /** The values by which its row is found, in the order of the key. */
  readonly matched: readonly Assignment[];
  /** The values that it sets in a row that exists. */
  readonly updates: readonly Assignment[];
  /** The values that an update cannot set: a row that exists must have them already. */
  readonly fixed: readonly Assignment[];
  /** What is wrong with it if it has to be created. */
  readonly faults: readonly Issue[];
}

/** An upsert after all checks. Only the database can still reject it. */
export interface UpsertPlan extends CreatePlan {
  readonly records: readonly UpsertRecord[];
  /** The columns of the key by which rows are found, without the tenant's. */
  readonly match: readonly Column[];
}

/**
 * Resolves the names of an upsert to columns and a unique key, checks its values, and adds the tenant's
 * scope. Whether a record lacks a required field is known only once its row has been looked for.
 * @throws {ApiError} 400 at `match`, and at the path of each name or value that does not fit
 * @see docs/specification/upserting.md
 */
export function planUpsert(request: UpsertRequest, options: CreateOptions): UpsertPlan {
  const { table } = options;
  const match = requireKey(request, table);
  const reasonOf = (column: Column) =>
    match.includes(column) || column.readOnly !== undefined ? column.unset : undefined;
  const planned = planRecords(request, options, (sent, place, findings): UpsertRecord => {
    const { path, assignments } = planFields(sent, findings, { table, reasonOf });
    reportUnmatched(sent, match, findings);
    const others = assignments.filter(({ column }) => !match.includes(column));
    return {
      place,
      path,
      assignments,
      matched: match.flatMap((column) => assignments.find((each) => each.column === column) ?? []),
      updates: others.filter(({ column }) => column.readOnly === undefined),
      fixed: others.filter(({ column }) => column.readOnly !== undefined),
      faults: [...listMissing(sent, table), ...listUnset(sent, table)],
    };
  });
  const { audit, ...common } = planRequest(request, options);
  return {
    ...common,
    ...planned,
    match,
    rereads: table.inserts.rereads || table.rereads === true,
    audit: audit && { ...audit, filters: request.match },
  };
}

/**
 * Returns the unique key that `match` names.
 * @throws {ApiError} 400 listing those that can be named
 * @see UP3
 */
function requireKey({ match, document }: UpsertRequest, { matchKeys, name }: Table) {
  const names = new Set(match);
  const key = matchKeys.find((columns) =>
    columns.length === names.size && columns.every((column) => names.has(column.name))
  );
  if (key !== undefined) return key;
  const listed = matchKeys.map((columns) => JSON.stringify(columns.map((each) => each.name)));
  const message = listed.length === 0
    ? `Table ${quote(name)} has no unique key by which records can be matched`
    : `${quote(match)} is not a unique key by which records can be matched, expected ` +
      listed.join(" or ");
  throw rejectIssues([{ path: pathOf("match"), message }], document, { stale: true });
}

/** Reports each column of the key for which a record has no value. @see UP4 */
function reportUnmatched(
  { path, fields }: SentRecord,
  match: readonly Column[],
  { issues }: Findings,
): void {
  const given = new Map(fields);
  for (const { name, type, nullable } of match) {
    const value = given.get(name);
    // A null that the column cannot hold is reported already.
    if (value !== undefined && (value !== null || !nullable)) continue;
    const wrong = value === null ? "null matches no row" : `${name} is required, as match names it`;
    issues.push({ path: under(path, name), message: `${wrong}, expected a value of type ${type}` });
  }
}

/** Lists the fields that an update can set and a new record cannot. */
function listUnset({ path, fields }: SentRecord, { columns }: Table): Issue[] {
  return fields.flatMap(([name]) => {
    const column = columns.get(name);
    const message = column && describeReadOnly(column, column.unset);
    return message === undefined ? [] : [{ path: under(path, name), message }];
  });
}
