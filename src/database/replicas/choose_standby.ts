import type { Config } from "../../server/config/config.ts";
import type { Position } from "./position.ts";
import type { PrimaryLog } from "./primary_log.ts";
import { hasReached, type Standby } from "./standby.ts";

/** Chooses among the standbys of a database, by turns. */
export interface StandbyChoice {
  /** Reports whether a standby follows the newest timeline; others may follow a former primary. */
  readonly isUsable: (standby: Standby) => boolean;
  /** Returns the next usable standby; undefined if there is none. */
  readonly next: () => Standby | undefined;
  /** Waits a moment for a standby that has a position; undefined if none has it by then. */
  readonly awaitPosition: (position: Position) => Promise<Standby | undefined>;
}

/** How long a standby is waited for, and how far behind it may be. */
export type ChoiceLimits = Pick<Config, "replicaWaitMs" | "replicaMaxLagMs">;

/** A server that did not answer for this long is not relied on. */
const SILENT_MS = 2000;
/** How often standbys are asked while a query waits for one. */
const WAIT_STEP_MS = 10;

/** Opens the choice among standbys, by what they and the primary have reported. */
export function openStandbyChoice(
  standbys: readonly Standby[],
  log: PrimaryLog,
  { replicaWaitMs, replicaMaxLagMs }: ChoiceLimits,
): StandbyChoice {
  let turn = 0;

  function isUsable({ state }: Standby): boolean {
    const known = state();
    return known !== undefined && known.standby && known.timeline === log.last()?.timeline &&
      performance.now() - known.atMs < SILENT_MS &&
      log.lagOf(known.bytes, known.atMs) <= replicaMaxLagMs;
  }

  /** Returns the next standby in turn that meets a condition. */
  function pick(meets: (standby: Standby) => boolean): Standby | undefined {
    turn = (turn + 1) % standbys.length;
    return [...standbys.slice(turn), ...standbys.slice(0, turn)].find(meets);
  }

  async function awaitPosition(position: Position): Promise<Standby | undefined> {
    const endMs = performance.now() + replicaWaitMs;
    const has = (standby: Standby) => isUsable(standby) && hasReached(standby, position);
    while (mayHave(position)) {
      const found = pick(has);
      if (found !== undefined) return found;
      if (performance.now() >= endMs || !standbys.some(isUsable)) return undefined;
      await Promise.all(standbys.filter(isUsable).map(({ ask }) => ask()));
      const ready = pick(has);
      if (ready !== undefined) return ready;
      await new Promise((resolve) => setTimeout(resolve, WAIT_STEP_MS));
    }
    return undefined;
  }

  /**
   * Reports whether a standby may have a position. Without recent news of the primary, there may be a
   * newer timeline.
   */
  function mayHave(position: Position): boolean {
    return performance.now() - log.notedMs() < SILENT_MS && log.holds(position) === "yes";
  }

  return { isUsable, next: () => pick(isUsable), awaitPosition };
}
