import * as v from "valibot";
import type { LogAnchor } from "../../records/sql/change_lines.ts";
import type { LogPosition, LogSnapshot } from "../../records/plan/changes_plan.ts";

/** The content of a cursor: how far a client has followed a table, and in which database. */
export interface FeedPosition extends LogPosition {
  readonly feed: number;
  /** Digest of the triggers, partitions and columns of the table. */
  readonly shape: string;
  /** Identifies the database: system, timeline and oid. */
  readonly life: string;
  /** Bytes of WAL that were on disk, which include all entries that it saw and their changes. */
  readonly wal: string;
  /** The newest entry of the log; undefined: there was none. */
  readonly anchor: LogAnchor | undefined;
  /** The key of the last row that was given, while the initial rows are not complete. */
  readonly rows?: readonly string[] | undefined;
}

/** A place in the write-ahead log of a database. */
export interface PlaceInWal {
  readonly system: string;
  readonly timeline: number;
  readonly bytes: bigint;
}

/** Returns how far the WAL was on disk when a position was given. */
export function placeInWal({ life, wal }: Pick<FeedPosition, "life" | "wal">): PlaceInWal {
  const [system = "", timeline = ""] = life.split(".");
  return { system, timeline: parseInt(timeline, 16), bytes: BigInt(wal) };
}

const DIGITS = v.pipe(v.string(), v.regex(/^\d{1,20}$/));
const SNAPSHOT = v.object({ next: DIGITS, running: v.array(DIGITS) });

/** The result of `rowgate.changes_moment()`. */
const MOMENT = v.variant("standby", [
  v.object({ standby: v.literal(true) }),
  v.object({
    standby: v.literal(false),
    life: v.string(),
    wal: DIGITS,
    below: DIGITS,
    ...SNAPSHOT.entries,
    newest: v.nullable(v.tuple([DIGITS, DIGITS, DIGITS])),
  }),
]);

/** The position of the log, and the identity of the database. */
export type Moment = Extract<v.InferOutput<typeof MOMENT>, { standby: false }>;

/** Parses a moment; undefined on a standby, which does not know the running transactions. */
export function parseMoment(json: string): Moment | undefined {
  const moment = v.parse(MOMENT, JSON.parse(json));
  return moment.standby ? undefined : moment;
}

const SHAPE = v.object({
  tenant: v.nullable(v.string()),
  key: v.array(v.string()),
  /** Left out by a schema of an earlier version. */
  images: v.nullish(v.array(v.string()), []),
  complete: v.boolean(),
  shape: v.string(),
});

/** The state of a feed. */
export type Shape = v.InferOutput<typeof SHAPE>;

/** Parses what `rowgate.changes_shape()` gives; undefined: there is no such feed. */
export function parseShape(json: string | null): Shape | undefined {
  return json === null ? undefined : v.parse(SHAPE, JSON.parse(json));
}

/** Running transactions that a cursor names, so that it fits into a URL. */
const MAX_RUNNING = 300;

/**
 * Returns the snapshot of a moment. If more transactions are running than fit into a cursor, it ends
 * at the last one that fits: later changes will be given again, which is harmless.
 */
export function snapshotOf({ next, running }: LogSnapshot): LogSnapshot {
  if (running.length <= MAX_RUNNING) return { next, running };
  return { next: running[MAX_RUNNING]!, running: running.slice(0, MAX_RUNNING) };
}

/** The oldest transaction whose entries a position may still need. */
export function oldestOf({ seen, partial }: LogPosition): bigint {
  const snapshots = [seen, ...(partial === undefined ? [] : [partial.snapshot])];
  const all = snapshots.flatMap(({ next, running }) => [BigInt(next), ...running.map(BigInt)]);
  return all.reduce((oldest, one) => one < oldest ? one : oldest);
}

const COUNT = v.pipe(v.number(), v.integer());
const PACKED_SNAPSHOT = v.tuple([DIGITS, v.array(COUNT)]);
const PACKED = v.tuple([
  COUNT,
  v.string(),
  v.string(),
  DIGITS,
  v.nullable(v.tuple([DIGITS, DIGITS, DIGITS])),
  PACKED_SNAPSHOT,
  v.nullable(v.tuple([PACKED_SNAPSHOT, DIGITS, DIGITS, DIGITS])),
  v.nullable(v.array(v.string())),
]);

/** Prints a position; running transactions by how far they are below the next one. */
export function printFeedPosition(position: FeedPosition): string {
  const { feed, shape, life, wal, anchor, seen, partial, rows } = position;
  const packed: v.InferOutput<typeof PACKED> = [
    feed,
    shape,
    life,
    wal,
    anchor === undefined ? null : [...anchor],
    packSnapshot(seen),
    partial === undefined ? null : [
      packSnapshot(partial.snapshot),
      partial.place.xid,
      partial.place.seq,
      partial.place.ordinal,
    ],
    rows === undefined ? null : [...rows],
  ];
  return JSON.stringify(packed);
}

/** Parses what `printPosition` printed. */
export function parseFeedPosition(text: string): FeedPosition {
  const [feed, shape, life, wal, anchor, seen, partial, rows] = v.parse(PACKED, JSON.parse(text));
  return {
    feed,
    shape,
    life,
    wal,
    anchor: anchor ?? undefined,
    seen: unpackSnapshot(seen),
    partial: partial === null ? undefined : {
      snapshot: unpackSnapshot(partial[0]),
      place: { xid: partial[1], seq: partial[2], ordinal: partial[3] },
    },
    rows: rows ?? undefined,
  };
}

function packSnapshot({ next, running }: LogSnapshot): v.InferOutput<typeof PACKED_SNAPSHOT> {
  const top = BigInt(next);
  return [next, running.map((one) => Number(top - BigInt(one)))];
}

function unpackSnapshot([next, below]: v.InferOutput<typeof PACKED_SNAPSHOT>): LogSnapshot {
  const top = BigInt(next);
  return { next, running: below.map((distance) => String(top - BigInt(distance))) };
}
