import type { Failure } from "./database_error.ts";
import type { Session } from "./session.ts";

/** Looks for a primary while sessions of a standby stand in for it. */
export interface PrimarySeeker {
  /** Called when a session of a standby was opened because no primary was found. */
  readonly start: () => void;
  readonly close: () => void;
}

/** How a seeker opens sessions, and what it calls. */
export interface SeekOptions {
  /** Opens a session of a primary, or fails; with it, those of standbys are given up. */
  readonly open: () => Promise<Session | Failure>;
}

const SEEK_MS = 1000;

/**
 * Makes a seeker. Tokens and the catalogue must be read from a primary, and a session may live for half an
 * hour: as soon as there is a primary again, no session of a standby is used for them.
 * @see M6
 */
export function seekPrimary({ open }: SeekOptions): PrimarySeeker {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let closed = false;

  async function seek(): Promise<void> {
    const result = await open();
    timer = undefined;
    if ("kind" in result) return start();
    result.close();
  }

  function start(): void {
    if (!closed) timer ??= setTimeout(seek, SEEK_MS);
  }

  return {
    start,
    close() {
      closed = true;
      clearTimeout(timer);
    },
  };
}
