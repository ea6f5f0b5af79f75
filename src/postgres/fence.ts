import type { Observe } from "../telemetry/observe.ts";

/** What a server says of itself when a session is opened. */
export interface ServerIdentity {
  /** What initdb gave its data; undefined where the role may not read it. */
  readonly system: string | undefined;
  /** Of the WAL that it writes: one more after each promotion. Undefined on a standby. */
  readonly timeline: number | undefined;
  /** When it was started, as it prints that. */
  readonly started?: string | undefined;
}

/** Keeps a service from using two primaries at once. */
export interface Fence {
  /** Takes the server of a session that is being opened; gives a code where it must not be used. */
  readonly refuse: (server: ServerIdentity) => string | undefined;
  /** The newest timeline that was seen; undefined as long as none was. */
  readonly timeline: () => number | undefined;
  /** Takes a timeline that another instance has seen. */
  readonly see: (timeline: number) => void;
}

/** Code of a session whose server holds other data. */
export const OTHER_SYSTEM = "OTHER_SYSTEM";
/** Code of a session whose server was the primary before the one that is known. */
export const OLD_TIMELINE = "OLD_TIMELINE";

/** What a fence calls. */
export interface FenceOptions {
  readonly observe: Observe;
  /** Called before the first session of a newer timeline is used: older ones write to the past. */
  readonly onNewTimeline: () => void;
}

/**
 * Opens a fence. The first session decides which database is served, and each promotion that is seen
 * which primary. An old primary that still runs, because it could not be stopped or was started again,
 * accepts writes that the new one never gets.
 * @see M4, M5
 */
export function openFence({ observe, onNewTimeline }: FenceOptions): Fence {
  let known: string | undefined;
  let newest: number | undefined;

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
    if (newest !== undefined && timeline <= newest) return;
    const isFirst = newest === undefined;
    newest = timeline;
    if (!isFirst) onNewTimeline();
  }

  function warn(why: string): void {
    observe({ kind: "warning", message: `a session of a server was refused: ${why}` });
    observe({ kind: "fault", fault: "fenced" });
  }

  return { refuse, timeline: () => newest, see };
}
