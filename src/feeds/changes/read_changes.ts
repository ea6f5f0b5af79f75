import type { Column, Table } from "../../catalogue/catalogue.ts";
import { unquoteIdentifier } from "../../catalogue/quote_identifier.ts";
import type { ChangesPlan, LogPosition } from "../../records/plan/changes_plan.ts";
import type { ChangesRow } from "../../records/sql/change_lines.ts";
import {
  type Expiry,
  rejectExpired,
  rejectIncomplete,
  rejectNoFeed,
  rejectStandby,
} from "./feed_errors.ts";
import {
  type FeedPosition,
  type Moment,
  oldestOf,
  parseMoment,
  parseShape,
  type Shape,
  snapshotOf,
} from "./position.ts";
import { hasShape, logsView, shapeOf } from "./table_scope.ts";
import { readOnStandby, type SnapshotStandbys } from "./read_on_standby.ts";
import { readFitting, type Reading, type ReadOptions, type Since } from "./read_row.ts";

/** Changes, and the position after them. */
export interface ChangesPage {
  /** Each is a JSON object `{"type":…,"key":…,"record":…}`. */
  readonly changes: readonly string[];
  readonly position: FeedPosition;
  /** False: a client that has applied everything has the table as of the statement's snapshot. */
  readonly more: boolean;
}

/**
 * Reads the next changes of a table. One statement reads everything for a response: the log, the
 * rows, the state of the feed and of the database. Only the initial rows may come from a standby.
 * @throws {ApiError} 404 the table has no complete feed; 410 changes after the position may be
 * missing; 400 a single record is too large
 * @throws {DatabaseError}
 * @see CH8
 */
export async function readChanges(
  plan: ChangesPlan,
  since: Since,
  options: ReadOptions & { readonly standbys?: SnapshotStandbys | undefined },
): Promise<ChangesPage> {
  const feed = plan.table.feed;
  if (feed === undefined) throw rejectNoFeed(plan.table.name);
  const { standbys, ...onPrimary } = options;
  if (standbys?.some() && isSnapshot(since)) {
    const position = since === "start" ? await readNow(plan, onPrimary) : since;
    const rows = await readOnStandby(plan, position, { ...onPrimary, standbys });
    // The changes since the position follow.
    if (rows !== undefined) {
      return { changes: linesOf(rows), position: { ...position, rows: lastOf(rows) }, more: true };
    }
  }
  const reading = { plan, feed, since };
  const found = await readFitting(reading, onPrimary, (row) => checkState(row, { plan, since }));
  return toPage(found.row, { since, feed, table: plan.table, ...found.state });
}

async function readNow(plan: ChangesPlan, options: ReadOptions): Promise<FeedPosition> {
  const { position } = await readChanges(plan, "now", options);
  return position;
}

/** Reports whether initial rows of the table are still to be given. */
function isSnapshot(since: Since): since is "start" | FeedPosition {
  return since === "start" || since !== "now" && since.rows !== undefined;
}

/**
 * Checks that the feed is complete, and has been since the position was given. The statement has read
 * both in the snapshot of the changes.
 */
function checkState(
  row: ChangesRow,
  { plan: { table }, since }: Pick<Reading, "plan" | "since">,
): { readonly moment: Moment; readonly shape: Shape } {
  const moment = parseMoment(row.moment);
  const shape = parseShape(row.shape);
  if (moment === undefined) throw rejectStandby();
  if (shape === undefined) throw rejectNoFeed(table.name);
  const names = table.primaryKey.map(({ identifier }: Column) => unquoteIdentifier(identifier));
  const isSame = shape.tenant === (table.tenant?.name ?? null) &&
    JSON.stringify(shape.key) === JSON.stringify(names);
  const isWhole = shape.complete && isSame && logsView(shape.images, table);
  if (!isWhole) throw rejectIncomplete(table.name);
  const expiry = typeof since === "string"
    ? undefined
    : findExpiry(since, { table, moment, shape, anchored: row.anchored === "true" });
  if (expiry !== undefined) throw rejectExpired(expiry);
  return { moment, shape };
}

/** The state that is compared with a position. */
export interface FeedState {
  readonly table: Table;
  readonly moment: Moment;
  readonly shape: Shape;
  /** True if the log entry of the position is unchanged. */
  readonly anchored: boolean;
}

/** Returns why changes after a position may be missing; undefined if none is. @see CH12, CH13 */
export function findExpiry(
  position: FeedPosition,
  { table, moment, shape, anchored }: FeedState,
): Expiry | undefined {
  const below = BigInt(moment.below);
  const { anchor, life, wal } = position;
  if (life !== moment.life || BigInt(moment.wal) < BigInt(wal)) return "life";
  if (anchor !== undefined && !anchored && BigInt(anchor[0]) >= below) return "life";
  if (position.feed !== table.feed || !hasShape(position.shape, shape, table)) return "shape";
  return oldestOf(position) < below ? "age" : undefined;
}

function toPage(
  row: ChangesRow,
  { since, feed, table, moment, shape }: Omit<FeedState, "anchored"> & {
    readonly since: Since;
    readonly feed: number;
  },
): ChangesPage {
  const changes = linesOf(row);
  const cut = row.cut == null ? undefined : JSON.parse(row.cut) as [number, string, string, string];
  const last = lastOf(row);
  const now = snapshotOf(moment);
  const place = { feed, shape: shapeOf(shape, table), life: moment.life, wal: moment.wal };
  const position: FeedPosition = {
    ...place,
    anchor: moment.newest ?? undefined,
    ...advance(since, { cut, last, now }),
  };
  const isRows = since === "start" || typeof since === "object" && since.rows !== undefined;
  // The pages of rows are of several snapshots; the changes since the first of them follow.
  const more = isRows ? last !== undefined || since !== "start" : cut !== undefined;
  return { changes, position, more };
}

function linesOf({ lines }: ChangesRow): readonly string[] {
  return lines === undefined ? [] : JSON.parse(lines);
}

function lastOf({ last }: ChangesRow): readonly string[] | undefined {
  return last == null ? undefined : JSON.parse(last);
}

interface Step {
  readonly cut: readonly [number, string, string, string] | undefined;
  readonly last: readonly string[] | undefined;
  readonly now: FeedPosition["seen"];
}

function advance(
  since: Since,
  { cut, last, now }: Step,
): LogPosition & Pick<FeedPosition, "rows"> {
  if (since === "now") return { seen: now };
  if (since === "start") return { seen: now, rows: last };
  if (since.rows !== undefined) return { seen: since.seen, rows: last };
  if (cut === undefined) return { seen: now };
  const [phase, xid, seq, ordinal] = cut;
  const place = { xid, seq, ordinal };
  const { seen, partial } = since;
  if (phase === 0) return { seen, partial: { snapshot: partial!.snapshot, place } };
  return { seen: partial?.snapshot ?? seen, partial: { snapshot: now, place } };
}
