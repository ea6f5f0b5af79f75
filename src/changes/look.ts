import { tenantInLog } from "../plan/changes_plan.ts";
import type { Database } from "../postgres/database.ts";
import { compileWatch, type WatchRow } from "../sql/watch_changes.ts";
import {
  type FeedPosition,
  type Moment,
  parseMoment,
  parseShape,
  type Shape,
  snapshotOf,
} from "./position.ts";
import { findExpiry } from "./read_changes.ts";
import { keyOf, type Waiter } from "./waiters.ts";

/** One look at the log for waiting clients. */
export interface LookOptions {
  readonly waiters: readonly Waiter[];
  /** The moment of the previous look; undefined: there was none, or it failed. */
  readonly seen: Moment | undefined;
  /** Tokens to look up. */
  readonly tokens: readonly string[];
}

/** What a look has found. */
export interface Look {
  /** Undefined on a standby. */
  readonly moment: Moment | undefined;
  /** The state of each feed; undefined: it is gone. */
  readonly shapes: ReadonlyMap<number, Shape | undefined>;
  /** The keys of clients with entries that the previous look did not see. */
  readonly changed: ReadonlySet<string>;
  /** Clients that no look had included yet, and for which there is something new. */
  readonly behind: ReadonlySet<Waiter>;
  /** Tokens that have ended. */
  readonly ended: ReadonlySet<string>;
  /** Tokens that are valid, and do not expire within 5 s. */
  readonly lasting: readonly string[];
}

/** A snapshot that has seen everything, for a look when all clients have just arrived. */
const NOTHING_MISSED = { next: "18446744073709551615", running: [] };

/** Asks with one statement whether there is anything new for the clients. @throws {DatabaseError} */
export async function lookForAll(
  database: Database,
  { waiters, seen, tokens }: LookOptions,
): Promise<Look> {
  const tables = new Map(
    waiters.map(({ position: { feed }, plan: { table } }) => [feed, table.identifier]),
  );
  // All clients have arrived anew after looks failed or paused.
  const arrived = waiters.filter(({ clear }) => clear === undefined);
  const question = {
    seen: seen ?? NOTHING_MISSED,
    feeds: [...tables].map(([feed, table]) => ({ feed, table })),
    arrived: arrived.map(({ position: { feed, seen, anchor }, plan }) => (
      { feed, tenant: tenantInLog(plan.scope), seen, anchor }
    )),
    tokens,
  };
  const [row] = await database.run<WatchRow & Record<string, string>>(
    (sql) => compileWatch(sql, question) as never,
    { write: false, ofPrimary: true },
  );
  return parseLook(row!, arrived);
}

function parseLook(row: WatchRow, arrived: readonly Waiter[]): Look {
  const shapes = JSON.parse(row.shapes) as [number, unknown][];
  const shapeOf = (shape: unknown) =>
    shape === null ? undefined : parseShape(JSON.stringify(shape));
  const changed = JSON.parse(row.changed) as [number, string][];
  const behind = JSON.parse(row.behind) as number[];
  return {
    moment: parseMoment(row.moment),
    shapes: new Map(shapes.map(([feed, shape]) => [feed, shapeOf(shape)])),
    changed: new Set(changed.map(([feed, tenant]) => keyOf(feed, tenant))),
    behind: new Set(behind.map((place) => arrived[place]!)),
    ended: new Set(JSON.parse(row.ended) as string[]),
    lasting: JSON.parse(row.lasting) as string[],
  };
}

/**
 * Returns the position up to which there is nothing new for a client; undefined if there may be
 * something, or if it can no longer be given.
 */
export function findClear(
  waiter: Waiter,
  { moment, shapes, changed, behind }: Look,
): FeedPosition | undefined {
  const { position, plan, key, clear } = waiter;
  if (behind.has(waiter) || clear !== undefined && changed.has(key)) return undefined;
  const shape = shapes.get(position.feed);
  if (moment === undefined || shape === undefined || !shape.complete) return undefined;
  const state = { feed: plan.table.feed ?? 0, moment, shape, anchored: true };
  if (findExpiry(clear ?? position, state) !== undefined) return undefined;
  const { wal, newest } = moment;
  return { ...position, wal, anchor: newest ?? undefined, seen: snapshotOf(moment) };
}
