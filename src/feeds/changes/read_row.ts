import { ApiError } from "../../basics/errors/api_error.ts";
import type { ChangesPlan } from "../../records/plan/changes_plan.ts";
import type { Client, Database } from "../../database/postgres/database.ts";
import type { ChangesRow, FeedStatement } from "../../records/sql/change_lines.ts";
import { compileChanges } from "../../records/sql/changes.ts";
import {
  compileChangesMoment,
  compileChangesSnapshot,
} from "../../records/sql/changes_snapshot.ts";
import type { Setting } from "../../records/sql/settings.ts";
import type { FeedPosition } from "./position.ts";

/** Where reading begins: with every row, with changes from now on, or after a position. */
export type Since = "start" | "now" | FeedPosition;

/** The part of a feed that is read. */
export interface Reading {
  readonly plan: ChangesPlan;
  readonly feed: number;
  readonly since: Since;
}

/** The database on which it is read. */
export interface ReadOptions {
  readonly database: Pick<Database, "run">;
  readonly settings: readonly Setting[];
  readonly client: Client | undefined;
}

/**
 * Reads changes by one statement, repeated with fewer changes until their records fit. `check` checks
 * the state of each statement; if it returns undefined, reading ends.
 * @throws {ApiError} 400 a single record is too large
 * @throws {DatabaseError}
 */
export async function readFitting<State>(
  { plan, ...reading }: Reading,
  options: ReadOptions,
  check: (row: ChangesRow) => State,
): Promise<{ readonly row: ChangesRow; readonly state: State }> {
  let current = plan;
  let measured = false;
  for (;;) {
    const row = await readRow({ plan: current, measured, ...reading }, options);
    const state = check(row);
    const fits = row.large === undefined || row.large === "0";
    if (fits || state === undefined) return { row, state };
    if (!measured) measured = true;
    else if (current.limit === 1) throw rejectSize(plan);
    else current = { ...current, limit: Math.ceil(current.limit / 8) };
  }
}

async function readRow(
  { plan, feed, measured, since }: Reading & { readonly measured: boolean },
  { database, settings, client }: ReadOptions,
): Promise<ChangesRow> {
  const anchor = typeof since === "string" ? undefined : since.anchor;
  const statement: FeedStatement = { plan, feed, measured, anchor, settings };
  const { tenant } = plan.scope;
  const [row] = await database.run<ChangesRow & Record<string, string>>((sql) => {
    if (since === "now") return compileChangesMoment(sql, statement) as never;
    if (since === "start" || since.rows !== undefined) {
      const after = since === "start" ? undefined : since.rows;
      return compileChangesSnapshot(sql, statement, after) as never;
    }
    return compileChanges(sql, statement, since) as never;
  }, { write: false, ofPrimary: true, tenant, client });
  return row!;
}

function rejectSize({ maxPageBytes }: ChangesPlan): ApiError {
  const message = `fields: A record is larger than ${maxPageBytes} bytes, expected fewer fields`;
  return new ApiError(400, message);
}
