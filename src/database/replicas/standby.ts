import type { Database } from "../postgres/database.ts";
import { findDatabaseError } from "../postgres/database_error.ts";
import type { FailureKind } from "../postgres/failure_kind.ts";
import { readLogState, shareQuestions } from "./log_state.ts";
import type { LogState, Position } from "./position.ts";

/** A standby that queries may be sent to. */
export interface Standby {
  /** Host and port, or the path of a socket. */
  readonly name: string;
  /** The database for its queries. */
  readonly database: Database;
  /** Its last reported state; undefined: unknown, so it is not used. */
  readonly state: () => (LogState & { readonly atMs: number }) | undefined;
  /** Counts its restarts, after which it may have replayed less than before. */
  readonly life: () => number;
  /** Asks for its state; shares a question that was not sent yet. Never rejects. */
  readonly ask: () => Promise<void>;
  readonly close: (timeoutMs: number) => Promise<void>;
}

/** A standby, and the connection on which its state is read. */
export interface StandbyOptions {
  readonly name: string;
  readonly database: Database;
  /** A database with one connection, so that queries do not delay the questions. */
  readonly watcher: Database;
}

/** A standby, as {@link openStandby} returns it. */
export interface OpenedStandby extends Standby {
  /** Called with the start time of the server of each new session. */
  readonly meet: (started: string) => void;
}

/** Opens a standby. */
export function openStandby({ name, database, watcher }: StandbyOptions): OpenedStandby {
  let state: (LogState & { readonly atMs: number }) | undefined;
  let life = 0;
  let started: string | undefined;

  function meet(found: string): void {
    if (found === started) return;
    started = found;
    state = undefined;
    life++;
  }

  async function askNow(): Promise<void> {
    const atMs = performance.now();
    try {
      const found = await readLogState(watcher);
      meet(found.started);
      state = { ...found, atMs };
    } catch {
      state = undefined;
    }
  }

  async function close(timeoutMs: number): Promise<void> {
    await Promise.all([database.close(timeoutMs), watcher.close(timeoutMs)]);
  }

  const ask = shareQuestions(askNow);
  return { name, database, state: () => state, life: () => life, meet, ask, close };
}

/** Reports whether a standby has the write at a position, by its last state. */
export function hasReached({ state }: Standby, position: Position): boolean {
  const known = state();
  return known !== undefined && known.timeline >= position.timeline &&
    known.bytes >= position.bytes;
}

/** Failures of a standby after which the primary is asked. */
const ASKED_AGAIN: ReadonlySet<FailureKind> = new Set(
  ["unavailable", "lost", "serialization", "stale", "permission", "remote", "failed"],
);

/** Reports whether the primary may be able to do what a standby could not. */
export function mayDoBetter(error: unknown): boolean {
  const failure = findDatabaseError(error);
  return failure !== undefined && ASKED_AGAIN.has(failure.kind);
}
