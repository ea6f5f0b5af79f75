import type { Failure } from "./database_error.ts";
import type { Session } from "./session.ts";

/** Looks for a primary while sessions of a standby are used in its place. */
export interface PrimarySeeker {
  /** Called when a session of a standby was opened because no primary was found. */
  readonly start: () => void;
  readonly close: () => void;
}

/** How a seeker opens sessions, and what it calls. */
export interface SeekOptions {
  /** Opens a session of a primary, or fails. On success, the sessions of standbys are given up. */
  readonly open: () => Promise<Session | Failure>;
}

const SEEK_MS = 1000;

/**
 * Makes a seeker. Tokens and the catalogue must be read from a primary, and a session may live for
 * half an hour. So it looks for a primary all the time, and as soon as there is one, sessions of a
 * standby are no longer used.
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
