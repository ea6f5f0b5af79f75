import type { Session } from "../session.ts";

/** A session that is not in use. */
export interface IdleSession {
  readonly session: Session;
  readonly sinceMs: number;
}

/** The sessions of a pool that are not in use. */
export interface IdleSessions {
  /** The one that was idle for longest comes first. */
  readonly all: readonly IdleSession[];
  /** Takes the open session that was idle for the shortest time. */
  readonly take: () => IdleSession | undefined;
  /** Adds a session, which is removed if it ends. */
  readonly add: (entry: IdleSession) => void;
  /** Removes a session; returns false if it is not idle. */
  readonly remove: (session: Session) => boolean;
  /** Closes and removes all sessions. */
  readonly close: () => void;
}

/** Opens the list of a pool's idle sessions. */
export function openIdleSessions(): IdleSessions {
  const all: IdleSession[] = [];

  function take(): IdleSession | undefined {
    for (let found = all.pop(); found !== undefined; found = all.pop()) {
      if (found.session.isOpen()) return found;
    }
    return undefined;
  }

  function add(entry: IdleSession): void {
    all.push(entry);
    entry.session.watch(() => remove(entry.session));
  }

  function remove(session: Session): boolean {
    const place = all.findIndex((entry) => entry.session === session);
    if (place >= 0) all.splice(place, 1);
    return place >= 0;
  }

  function close(): void {
    for (const { session } of all.splice(0)) session.close();
  }

  return { all, take, add, remove, close };
}
