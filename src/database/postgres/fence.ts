import type { Observe } from "../../server/telemetry/observe.ts";
import type { ServerIdentity } from "./opening_statement.ts";

/** Keeps a service from using two primaries at once. */
export interface Fence {
  /** Checks the server of a session that is being opened; returns a code if it must not be used. */
  readonly refuse: (server: ServerIdentity) => string | undefined;
  /** The newest timeline that was seen; undefined before the first. */
  readonly timeline: () => number | undefined;
  /** Adds a timeline that another instance has seen. */
  readonly see: (timeline: number) => void;
  /**
   * Learns from several servers at once, and returns the primaries of the newest timeline among them.
   * Servers of another database are left out: the first primary decides which one is served.
   */
  readonly learn: <S extends ServerIdentity>(servers: readonly S[]) => readonly S[];
}

/** Code of a session whose server holds other data. */
export const OTHER_SYSTEM = "OTHER_SYSTEM";
/** Code of a session whose server was the primary before the one that is known. */
export const OLD_TIMELINE = "OLD_TIMELINE";

/** The callbacks of a fence. */
export interface FenceOptions {
  readonly observe: Observe;
  /**
   * Called before the first session of a newer timeline is used, because older sessions write to a
   * former primary.
   */
  readonly onNewTimeline: () => void;
}

/**
 * Opens a fence. The first server decides which database is served; after that, the newest timeline
 * decides which primary. A former primary that is still running, or was started again, would accept
 * writes that the new one never gets.
 * @see M4, M5
 */
export function openFence({ observe, onNewTimeline }: FenceOptions): Fence {
  let known: string | undefined;
  let newest: number | undefined;

  function learn<S extends ServerIdentity>(servers: readonly S[]): readonly S[] {
    const primaries = servers.filter(({ timeline }) => timeline !== undefined);
    known ??= [...primaries, ...servers].find(({ system }) => system !== undefined)?.system;
    const own = servers.filter(({ system }) => system === known);
    see(Math.max(0, ...own.flatMap(({ timeline = 0, checkpoint = 0 }) => [timeline, checkpoint])));
    return primaries.filter(({ system, timeline }) => system === known && timeline === newest);
  }

  function refuse({ system, timeline }: ServerIdentity): string | undefined {
    if (system !== undefined && system !== (known ??= system)) {
      warn(
        "it holds another database than the one that is served; if that was replaced on " +
          "purpose, restart Rowgate",
      );
      return OTHER_SYSTEM;
    }
    if (timeline === undefined || timeline === newest) return undefined;
    if (newest !== undefined && timeline < newest) {
      warn(
        `it is on timeline ${timeline}, and a primary on timeline ${newest} was seen; ` +
          "stop it, it was the primary before a failover",
      );
      return OLD_TIMELINE;
    }
    see(timeline);
    return undefined;
  }

  function see(timeline: number): void {
    if (timeline <= (newest ?? 0)) return;
    const isFirst = newest === undefined;
    newest = timeline;
    if (!isFirst) onNewTimeline();
  }

  function warn(why: string): void {
    observe({ kind: "warning", message: `a session of a server was refused: ${why}` });
    observe({ kind: "fault", fault: "fenced" });
  }

  return { refuse, timeline: () => newest, see, learn };
}
