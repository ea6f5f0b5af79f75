import type { SnapshotStandbys } from "../../feeds/changes/read_on_standby.ts";
import type { Replicas } from "./replicas.ts";
import { hasReached, mayDoBetter } from "./standby.ts";

/** Offers the standbys to changes feeds, for the initial rows. @see CH20 */
export function openSnapshotStandbys(replicas: Replicas): SnapshotStandbys {
  return {
    some: () => replicas.standbys.some(replicas.isUsable),
    async choose({ system, ...position }) {
      if (await replicas.system().catch(() => undefined) !== system) return undefined;
      const standby = await replicas.choose({ tokenId: "", position });
      if (standby === undefined) return undefined;
      const life = standby.life();
      // Checked again, as it may have been restarted since it was chosen.
      if (!hasReached(standby, position)) return undefined;
      return { database: standby.database, isSame: () => standby.life() === life, mayDoBetter };
    },
  };
}
