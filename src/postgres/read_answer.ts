import type { PendingQuery, Row, RowList } from "./driver.ts";
import { IS_DENO } from "../runtime/name.ts";
import type { StepResult } from "./database.ts";
import { fail } from "./database_error.ts";
import type { DriverQuery } from "./statement_cache.ts";
import type { Outcome } from "./statement.ts";

const UTF_8 = new TextDecoder("utf-8", { ignoreBOM: true });

/**
 * Asks the driver for the bytes of long values, where it would take long to decode them: Deno's `Buffer`
 * (2.9), by which it does, takes 31 µs for 74 kB, its `TextDecoder` 8.
 * @see docs/decisions/0200-long-values-on-deno.md
 */
export function preferBytes<R extends Row>(query: PendingQuery<R[]>): void {
  if (IS_DENO) void query.raw();
}

/**
 * Reads what the driver answered to a query, and takes it away from there. V8 keeps every query until
 * it next looks through the whole heap, and with it all that can be reached from it: the page, the text
 * of the statement, the values.
 * @see docs/decisions/0189-what-outlives-a-request.md
 */
export function readAnswer<R extends Row>(
  query: PendingQuery<R[]>,
  list: RowList<R[]>,
): Outcome<StepResult<R>> {
  if (!isAnswered(list)) return { failure: fail("lost", "NOT_ANSWERED") };
  const inside = query as unknown as DriverQuery;
  inside.strings = undefined;
  inside.args = undefined;
  inside.string = undefined;
  inside.parameters = undefined;
  // A session needs the text of what it has prepared no more: it would keep 256 of them.
  if (inside.statement) inside.statement.string = "";
  return { rows: takeRows(list) };
}

/**
 * A statement given to a connection between its RST and its end is resolved by the driver when the
 * next session begins (3.4.9): without rows, and without the command that Postgres completed.
 */
function isAnswered(list: RowList<Row[]>): boolean {
  return typeof list.command === "string";
}

/**
 * After a statement that failed in the middle of its rows the driver goes on counting where it was
 * (3.4.9): the first row of the connection's next statement would be the second of its list.
 */
function takeRows<R extends Row>(list: RowList<R[]>): StepResult<R> {
  const { count } = list;
  const rows: R[] = [];
  for (let place = 0; place < list.length; place++) {
    if (rows.length > 0 || place in list) rows.push(readRow(list, list[place]!));
  }
  list.length = 0;
  return Object.assign(rows, { count });
}

/** A row of bytes has no names. */
function readRow<R extends Row>({ columns }: RowList<R[]>, row: R): R {
  if (!Array.isArray(row)) return row;
  const bytes: readonly (Uint8Array | null)[] = row;
  const entries = columns.map(({ name }, place) => [name, decode(bytes[place]!)]);
  return Object.fromEntries(entries);
}

function decode(bytes: Uint8Array | null): string | null {
  return bytes === null ? null : UTF_8.decode(bytes);
}
