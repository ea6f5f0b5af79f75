import { type Circuit, PAUSE_MS } from "../circuit.ts";
import type { Failure } from "../database_error.ts";
import type { Session } from "../session.ts";
import { SLOW_MS } from "../session_opener.ts";
import type { Primer } from "./pool_care.ts";

/** The attempts of a pool to open sessions for its callers. */
export interface Connecting {
  /** Begins as many attempts as are needed, and as the circuit allows; later, if it pauses. */
  readonly start: () => void;
  /** Attempts that are running, without those that take long. */
  readonly attempts: () => number;
  readonly stop: () => void;
}

/** How sessions are opened, and what learns of the results. */
export interface ConnectingOptions {
  readonly open: () => Promise<Session | Failure>;
  readonly circuit: Circuit;
  readonly primer: Primer | undefined;
  /** Reports whether there is need of one more than the given number of attempts. */
  readonly isNeeded: (attempts: number) => boolean;
  readonly onOpened: (session: Session) => void;
  readonly onFailed: (failure: Failure) => void;
}

/**
 * Opens sessions while there is need of them. An attempt that takes long no longer counts, so that
 * another may begin beside it; if it succeeds all the same, its session is used.
 */
export function keepConnecting(
  { open, circuit, primer, isNeeded, onOpened, onFailed }: ConnectingOptions,
): Connecting {
  let attempts = 0;
  let paused: ReturnType<typeof setTimeout> | undefined;

  function start(): void {
    while (isNeeded(attempts)) {
      if (!circuit.mayAttempt()) return pause();
      void attempt();
    }
  }

  function pause(): void {
    paused ??= setTimeout(() => {
      paused = undefined;
      start();
    }, PAUSE_MS);
  }

  async function attempt(): Promise<void> {
    const discount = count();
    const timer = setTimeout(() => {
      discount();
      circuit.strained();
      start();
    }, SLOW_MS);
    const result = await open();
    clearTimeout(timer);
    if ("kind" in result) {
      discount();
      circuit.failed(result);
      return onFailed(result);
    }
    circuit.succeeded();
    await primer?.prime(result);
    discount();
    onOpened(result);
  }

  /** Counts an attempt until the returned function is first called. */
  function count(): () => void {
    attempts++;
    let counted = true;
    return () => {
      if (counted) attempts--;
      counted = false;
    };
  }

  return { start, attempts: () => attempts, stop: () => clearTimeout(paused) };
}
