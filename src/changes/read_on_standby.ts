import type { ChangesPlan } from "../plan/changes_plan.ts";
import type { Database } from "../postgres/database.ts";
import type { ChangesRow } from "../sql/change_lines.ts";
import {
  type FeedPosition,
  parseMoment,
  parseShape,
  type PlaceInWal,
  placeInWal,
} from "./position.ts";
import { readFitting, type ReadOptions } from "./read_row.ts";

/** Standbys, as far as the rows of a snapshot may be read there. */
export interface SnapshotStandbys {
  /** Reports whether any is in use. */
  readonly some: () => boolean;
  /** Gives one that has replayed everything up to a place; undefined: none has. Never rejects. */
  readonly choose: (place: PlaceInWal) => Promise<SnapshotStandby | undefined>;
}

/** A standby that was chosen for a page. */
export interface SnapshotStandby {
  readonly database: Pick<Database, "run">;
  /** False once it was restarted: it may have replayed less since. */
  readonly isSame: () => boolean;
  /** Reports whether the primary may be able to do what failed here. */
  readonly mayDoBetter: (error: unknown) => boolean;
}

/**
 * Reads the next rows of a snapshot on a standby; undefined: the primary has to.
 *
 * A standby does not know which transactions are running, so the position comes from the primary, before
 * any row: everything that it saw of the log was on disk, and so before the place that it names. A
 * standby that has replayed up to there has all of that. What its rows have beyond is not in the
 * position: it comes once more with the changes.
 * @see CH20
 */
export async function readOnStandby(
  plan: ChangesPlan,
  position: FeedPosition,
  { standbys, ...options }: ReadOptions & { readonly standbys: SnapshotStandbys },
): Promise<ChangesRow | undefined> {
  const standby = await standbys.choose(placeInWal(position));
  if (standby === undefined) return undefined;
  // Without a last key: the first page.
  const since = position.rows === undefined ? "start" : position;
  const reading = { plan, feed: position.feed, since } as const;
  try {
    const { row, state } = await readFitting(
      reading,
      { ...options, database: standby.database },
      (row) => isSame(row, position) || undefined,
    );
    return state && standby.isSame() ? row : undefined;
  } catch (error) {
    if (standby.mayDoBetter(error)) return undefined;
    throw error;
  }
}

/** The standby has the table and the feed as they were at the position. */
function isSame(row: ChangesRow, { anchor, rows, shape }: FeedPosition): boolean {
  const found = parseShape(row.shape);
  const isStandby = parseMoment(row.moment) === undefined;
  // The statement of a first page asks for no entry.
  const isAnchored = anchor === undefined || rows === undefined || row.anchored === "true";
  return isStandby && isAnchored && found?.complete === true && found.shape === shape;
}
