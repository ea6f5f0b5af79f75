import { tenantInLog } from "../../records/plan/changes_plan.ts";
import type { Database } from "../../database/postgres/database.ts";
import { compileWatch, type WatchRow } from "../../records/sql/watch_changes.ts";
import type { Access } from "../../access/tokens/token.ts";
import {
  accessOf,
  hasEnded,
  parseRecord,
  printRecord,
  type TokenRecord,
} from "../../access/tokens/token_record.ts";
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
  /** What tokens allow now, by their ids, of those that were looked up; undefined: they have ended. */
  readonly tokens: ReadonlyMap<string, Access | undefined>;
  /** The records of those tokens that exist. */
  readonly records: readonly TokenRecord[];
}

/** A snapshot that has seen everything, for a look when all clients have just arrived. */
const NOTHING_MISSED = { next: "18446744073709551615", running: [] };

/** Asks with one statement whether there is anything new for the clients. @throws {DatabaseError} */
export async function lookForAll(
  database: Database,
  { waiters, seen, tokens }: LookOptions,
): Promise<Look> {
  const tables = new Map(
    waiters.map(({ position: { feed }, plan: { table: { stored } } }) => [feed, stored]),
  );
  // All clients have arrived again after looks failed or paused.
  const arrived = waiters.filter(({ clear }) => clear === undefined);
  const question = {
    seen: seen ?? NOTHING_MISSED,
    feeds: [...tables].map(([feed, { schema, name }]) => ({ feed, schema, table: name })),
    arrived: arrived.map(({ position: { feed, seen, anchor }, plan }) => (
      { feed, tenant: tenantInLog(plan.scope), seen, anchor }
    )),
    tokens,
  };
  const [row] = await database.run<WatchRow & Record<string, string>>(
    (sql) => compileWatch(sql, { ...question, record: printRecord(sql) }) as never,
    { write: false, ofPrimary: true },
  );
  return parseLook(row!, { arrived, tokens });
}

function parseLook(
  row: WatchRow,
  { arrived, tokens }: Pick<LookOptions, "tokens"> & { readonly arrived: readonly Waiter[] },
): Look {
  const shapes = JSON.parse(row.shapes) as [number, unknown][];
  const shapeOf = (shape: unknown) =>
    shape === null ? undefined : parseShape(JSON.stringify(shape));
  const changed = JSON.parse(row.changed) as [number, string][];
  const behind = JSON.parse(row.behind) as number[];
  const records = (JSON.parse(row.records) as string[]).map(parseRecord);
  const valid = new Map(
    records.filter((one) => !hasEnded(one)).map((one) => [one.id, accessOf(one)]),
  );
  return {
    moment: parseMoment(row.moment),
    shapes: new Map(shapes.map(([feed, shape]) => [feed, shapeOf(shape)])),
    changed: new Set(changed.map(([feed, tenant]) => keyOf(feed, tenant))),
    behind: new Set(behind.map((place) => arrived[place]!)),
    tokens: new Map(tokens.map((id) => [id, valid.get(id)])),
    records,
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
  const state = { table: plan.table, moment, shape, anchored: true };
  if (findExpiry(clear ?? position, state) !== undefined) return undefined;
  const { wal, newest } = moment;
  return { ...position, wal, anchor: newest ?? undefined, seen: snapshotOf(moment) };
}
