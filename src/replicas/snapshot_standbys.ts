import type { SnapshotStandbys } from "../changes/read_on_standby.ts";
import type { Replicas } from "./replicas.ts";
import { hasReached, mayDoBetter } from "./standby.ts";

/** Gives the standbys to the changes feeds, for the rows of their snapshots. @see CH20 */
export function openSnapshotStandbys(replicas: Replicas): SnapshotStandbys {
  return {
    some: () => replicas.standbys.some(replicas.isUsable),
    async choose({ system, ...position }) {
      if (await replicas.system().catch(() => undefined) !== system) return undefined;
      const standby = await replicas.choose({ tokenId: "", position });
      if (standby === undefined) return undefined;
      const life = standby.life();
      // Again, as it may have been restarted since it was chosen.
      if (!hasReached(standby, position)) return undefined;
      return { database: standby.database, isSame: () => standby.life() === life, mayDoBetter };
    },
  };
}
