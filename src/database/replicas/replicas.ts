import type { Config } from "../../server/config/config.ts";
import { ApiError } from "../../basics/errors/api_error.ts";
import type { Database } from "../postgres/database.ts";
import type { Observe } from "../../server/telemetry/observe.ts";
import { openStandbyChoice } from "./choose_standby.ts";
import { readLogState, shareQuestions } from "./log_state.ts";
import { openStandbys } from "./open_standbys.ts";
import type { Position } from "./position.ts";
import { UNKNOWN_BYTES } from "./position.ts";
import { openPrimaryLog } from "./primary_log.ts";
import { openRecentWrites } from "./recent_writes.ts";
import type { Standby } from "./standby.ts";

/** The properties of a query that decide where it runs. */
export interface QueryOrigin {
  readonly tokenId: string;
  /** The position of the client's last write, which the query must see. */
  readonly position: Position | undefined;
}

/** Chooses the standby for each query, and knows where writes can be read. */
export interface Replicas {
  readonly standbys: readonly Standby[];
  /** Reports whether queries are sent to a standby. */
  readonly isUsable: (standby: Standby) => boolean;
  /** Returns the standby for a query; undefined: the primary. Never rejects. */
  readonly choose: (origin: QueryOrigin) => Promise<Standby | undefined>;
  /**
   * Makes sure that the primary has the write at a position; called before and after a query on it.
   * @throws {ApiError} 410 if the write was, or may have been, lost in a failover; 503 while a
   * standby is used in place of the primary
   * @throws {DatabaseError}
   */
  readonly confirm: (position: Position) => Promise<void>;
  /** Begins a write of a token, whose queries then go to the primary for a while. */
  readonly beginWrite: (tokenId: string) => Write;
  /** The system identifier of the database, to which positions are bound. @throws {DatabaseError} */
  readonly system: () => Promise<string>;
  readonly close: (timeoutMs: number) => Promise<void>;
}

/** A running write. */
export interface Write {
  /** Returns the position at which it can be read, after its commit. Never rejects. */
  readonly end: () => Promise<Position | undefined>;
}

/** The parts that replicas need besides the configuration. */
export interface ReplicasOptions {
  readonly database: Database;
  readonly observe: Observe;
  /** The clock by which recent writes are forgotten. */
  readonly now?: (() => number) | undefined;
}

/** How often each server is asked for the position of its log. */
const ASK_MS = 500;

/**
 * Opens the standbys of `DATABASE_READ_URL`; undefined when there are none.
 * @see docs/specification/several-servers.md#standbys
 */
export function openReplicas(
  config: Config,
  { database, observe, now }: ReplicasOptions,
): Replicas | undefined {
  const { primary } = database;
  const log = openPrimaryLog();
  const standbys = openStandbys(config, {
    observe,
    isOther: (system) => log.last() !== undefined && system !== log.last()?.system,
  });
  if (standbys.length === 0) return undefined;
  const { isUsable, next, awaitPosition } = openStandbyChoice(standbys, log, config);
  const writes = openRecentWrites(database, { stickyMs: config.replicaStickyMs, now });
  const askPrimary = shareQuestions(async () => {
    const atMs = performance.now();
    const state = await readLogState(database);
    if (!state.standby) log.note(state, atMs);
    return state;
  });

  async function choose({ tokenId, position }: QueryOrigin): Promise<Standby | undefined> {
    const chosen = position === undefined
      ? writes.isRecent(tokenId) ? undefined : next()
      : await awaitPosition(position);
    observe({ kind: "read_from", server: chosen === undefined ? "primary" : "standby" });
    return chosen;
  }

  async function confirm(position: Position): Promise<void> {
    primary?.see(position.timeline);
    const { standby } = primary?.timeline() === position.timeline
      ? { standby: false }
      : await askPrimary();
    if (standby || primary?.isServing() === false) throw rejectWithoutPrimary();
    if (primary?.timeline() !== position.timeline && log.holds(position) !== "yes") {
      throw rejectLost();
    }
  }

  function beginWrite(tokenId: string): Write {
    void writes.note(tokenId);
    const timeline = primary?.timeline();

    async function end(): Promise<Position | undefined> {
      await writes.note(tokenId);
      try {
        const state = await askPrimary();
        if (!state.standby && state.timeline === timeline) return state;
      } catch {
        // The write is committed nevertheless.
      }
      // If the primary is unavailable, or changed since the write began, the write may be lost.
      return timeline === undefined ? undefined : { timeline, bytes: UNKNOWN_BYTES };
    }

    return { end };
  }

  async function system(): Promise<string> {
    return (log.last() ?? await askPrimary()).system;
  }

  function askAll(): void {
    void askPrimary().catch(() => {});
    for (const standby of standbys) void standby.ask().then(() => report(standby));
  }

  function report(standby: Standby): void {
    const known = standby.state();
    const lagMs = known === undefined ? Infinity : log.lagOf(known.bytes, known.atMs);
    observe({ kind: "standby", standby: standby.name, lagMs, usable: isUsable(standby) });
  }

  askAll();
  const timer = setInterval(askAll, ASK_MS);

  async function close(timeoutMs: number): Promise<void> {
    clearInterval(timer);
    await Promise.all(standbys.map((standby) => standby.close(timeoutMs)));
  }

  return { standbys, isUsable, choose, confirm, beginWrite, system, close };
}

/** Makes the 503 while a standby is used in place of the primary, since it may be behind. */
function rejectWithoutPrimary(): ApiError {
  const message = "The database is not available, try again in a moment";
  return new ApiError(503, message, { headers: { "Retry-After": "1" } });
}

function rejectLost(): ApiError {
  const message = "Rowgate-Position: The write may have been lost in a failover of the database, " +
    "expected a query without this header, and the write again";
  return new ApiError(410, message);
}
