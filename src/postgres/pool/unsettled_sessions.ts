import type { Session } from "../session.ts";
import { checkSession } from "../statement.ts";

/**
 * Sessions that were returned while Postgres may still work on their statement, or a cancel request
 * is pending. They count like busy ones, since Postgres has a connection for each.
 */
export interface UnsettledSessions {
  readonly count: () => number;
  /** Keeps an abandoned session until Postgres no longer works on it. */
  readonly keep: (session: Session, released: Promise<void>) => Promise<void>;
  /**
   * Makes certain that no cancel request can hit a later statement: waits until Postgres has handled
   * them all, and has answered one more statement, which may be hit.
   * @see docs/decisions/0029-sessions.md
   */
  readonly clear: (session: Session) => Promise<void>;
  /** Destroys them all, and each that comes later. */
  readonly close: () => void;
}

/** What learns of unsettled sessions. */
export interface UnsettledOptions {
  /** Called with an abandoned session. */
  readonly onAbandoned: ((session: Session) => void) | undefined;
  /** Called with a session that is settled; it is open if it can be used again. */
  readonly onSettled: (session: Session) => void;
}

/** Time for a cancelled statement to be answered. */
export const CANCELLED_MS = 1000;

/** Opens the place where a pool keeps its unsettled sessions. */
export function openUnsettledSessions(
  { onAbandoned, onSettled }: UnsettledOptions,
): UnsettledSessions {
  const unsettled = new Set<Session>();
  let closed = false;

  async function keep(session: Session, released: Promise<void>): Promise<void> {
    if (closed) return session.destroy();
    unsettled.add(session);
    onAbandoned?.(session);
    await released;
    unsettled.delete(session);
    onSettled(session);
  }

  async function clear(session: Session): Promise<void> {
    unsettled.add(session);
    const isHandled = await session.awaitCancels() && !closed;
    if (!isHandled || !await checkSession(session, CANCELLED_MS)) session.destroy();
    unsettled.delete(session);
    onSettled(session);
  }

  function close(): void {
    closed = true;
    for (const session of unsettled) session.destroy();
  }

  return { count: () => unsettled.size, keep, clear, close };
}
