import type { ChangesPlan } from "../../records/plan/changes_plan.ts";
import type { Database } from "../../database/postgres/database.ts";
import type { ChangesRow } from "../../records/sql/change_lines.ts";
import {
  type FeedPosition,
  parseMoment,
  parseShape,
  type PlaceInWal,
  placeInWal,
} from "./position.ts";
import { hasShape } from "./table_scope.ts";
import { readFitting, type ReadOptions } from "./read_row.ts";

/** Standbys on which the initial rows of a feed may be read. */
export interface SnapshotStandbys {
  /** Reports whether any is in use. */
  readonly some: () => boolean;
  /** Returns a standby that has replayed the WAL up to a place; undefined: none has. Never rejects. */
  readonly choose: (place: PlaceInWal) => Promise<SnapshotStandby | undefined>;
}

/** A standby that was chosen for a page. */
export interface SnapshotStandby {
  readonly database: Pick<Database, "run">;
  /** False after a restart, since it may have replayed less. */
  readonly isSame: () => boolean;
  /** Reports whether the primary may be able to do what failed here. */
  readonly mayDoBetter: (error: unknown) => boolean;
}

/**
 * Reads the next initial rows on a standby; undefined: the primary must be used.
 *
 * A standby does not know which transactions are running, so the position is taken from the primary
 * before any row is read. Everything that the position saw of the log was on disk, before the place
 * that it names, so a standby that has replayed up to there has all of it. Its rows may be newer than
 * the position; such changes are given once more.
 * @see CH20
 */
export async function readOnStandby(
  plan: ChangesPlan,
  position: FeedPosition,
  { standbys, ...options }: ReadOptions & { readonly standbys: SnapshotStandbys },
): Promise<ChangesRow | undefined> {
  const standby = await standbys.choose(placeInWal(position));
  if (standby === undefined) return undefined;
  // Without a last key it is the first page.
  const since = position.rows === undefined ? "start" : position;
  const reading = { plan, feed: position.feed, since } as const;
  try {
    const { row, state } = await readFitting(
      reading,
      { ...options, database: standby.database },
      (row) => isSame(row, position, plan.table) || undefined,
    );
    return state && standby.isSame() ? row : undefined;
  } catch (error) {
    if (standby.mayDoBetter(error)) return undefined;
    throw error;
  }
}

/** Reports whether the standby has the table and the feed as they were at the position. */
function isSame(
  row: ChangesRow,
  { anchor, rows, shape }: FeedPosition,
  table: ChangesPlan["table"],
): boolean {
  const found = parseShape(row.shape);
  const isStandby = parseMoment(row.moment) === undefined;
  // The statement of a first page reads no entry.
  const isAnchored = anchor === undefined || rows === undefined || row.anchored === "true";
  return isStandby && isAnchored && found?.complete === true && hasShape(shape, found, table);
}
