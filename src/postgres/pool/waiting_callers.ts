import { startDeadline } from "../../runtime/timers.ts";
import type { Client } from "../database.ts";
import { type Failure, makeFailure } from "../database_error.ts";
import type { Session } from "../session.ts";

/** Callers that wait for a session of a pool, in the order of their arrival. */
export interface WaitingCallers {
  readonly count: () => number;
  /** Waits for a session; a failure after the given milliseconds, or when the client disconnects. */
  readonly wait: (limitMs: number, client: Client | undefined) => Promise<Session | Failure>;
  /** Gives a session to the caller that has waited longest; returns false if none waits. */
  readonly serve: (session: Session) => boolean;
  /** Gives the same failure to all. */
  readonly failAll: (failure: Failure) => void;
}

/** Opens the queue of a pool's callers. */
export function openWaitingCallers(): WaitingCallers {
  const waiting = new Set<(result: Session | Failure) => void>();

  function wait(limitMs: number, client: Client | undefined): Promise<Session | Failure> {
    return new Promise((resolve) => {
      const settle = (result: Session | Failure) => {
        waiting.delete(settle);
        endDeadline();
        resolve(result);
      };
      const endDeadline = startDeadline({
        ms: limitMs,
        late: () => settle(makeFailure("unavailable", "CONNECT_TIMEOUT")),
        client,
        gone: () => settle(makeFailure("timeout", "ABORTED")),
      });
      waiting.add(settle);
    });
  }

  function serve(session: Session): boolean {
    const [first] = waiting;
    first?.(session);
    return first !== undefined;
  }

  function failAll(failure: Failure): void {
    for (const settle of [...waiting]) settle(failure);
  }

  return { count: () => waiting.size, wait, serve, failAll };
}
