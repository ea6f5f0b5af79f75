import type { Failure } from "./database_error.ts";
import type { Session } from "./session.ts";
import { SLOW_MS } from "./session_opener.ts";

/** Time between two attempts to connect to a database that is unavailable, in milliseconds. */
export const PAUSE_MS = 250;

/** Limits the attempts to connect to a database that is unavailable, and lets requests fail fast. */
export interface Circuit {
  /** Reports whether an attempt to connect may begin now, and counts it as begun. */
  readonly mayAttempt: () => boolean;
  /** Returns why no attempt may begin now; undefined if one may, or the reason is unknown. */
  readonly openReason: () => Failure | undefined;
  readonly failed: (failure: Failure) => void;
  /** Called if an attempt takes long; it may still succeed. */
  readonly strained: () => void;
  readonly succeeded: () => void;
}

/** Connections in a row that may break while they are opened before the circuit opens. */
const FREE_FAILURES = 3;

/**
 * Makes a circuit breaker. While closed, it allows any number of attempts. It opens when Postgres
 * rejects an attempt, an attempt takes long, or four in a row break. While open, it allows one
 * attempt each quarter of a second, until one succeeds.
 * @see D7
 */
export function openCircuit(now: () => number = () => performance.now()): Circuit {
  let isOpen = false;
  let reason: Failure | undefined;
  let nextMs = 0;
  let failures = 0;

  function pause(): void {
    isOpen = true;
    nextMs = now() + PAUSE_MS;
  }

  return {
    mayAttempt() {
      if (!isOpen) return true;
      if (now() < nextMs) return false;
      pause();
      return true;
    },
    openReason: () => isOpen && now() < nextMs ? reason : undefined,
    failed(failure) {
      reason = failure;
      if (failure.fromServer || ++failures > FREE_FAILURES) pause();
    },
    strained: pause,
    succeeded() {
      isOpen = false;
      reason = undefined;
      failures = 0;
    },
  };
}

/** How sessions are opened, and what learns of the results. */
export interface AttemptsOptions {
  readonly open: () => Promise<Session | Failure>;
  readonly circuit: Circuit;
  /** Reports whether there is need of one more than the given number of attempts. */
  readonly isNeeded: (attempts: number) => boolean;
  readonly onOpened: (session: Session) => void;
  readonly onFailed: (failure: Failure) => void;
}

/**
 * The attempts of a pool to open sessions, while there is need of them. One that takes long no longer
 * counts, so that another may begin beside it; if it succeeds all the same, its session is used.
 */
export class Attempts {
  readonly #options: AttemptsOptions;
  #count = 0;
  #paused: ReturnType<typeof setTimeout> | undefined;

  constructor(options: AttemptsOptions) {
    this.#options = options;
  }

  /** Attempts that are running, without those that take long. */
  get count(): number {
    return this.#count;
  }

  /** Begins as many attempts as are needed, and as the circuit allows; later, if it pauses. */
  start(): void {
    const { circuit, isNeeded } = this.#options;
    while (isNeeded(this.#count)) {
      if (!circuit.mayAttempt()) return this.#pause();
      void this.#attempt();
    }
  }

  stop(): void {
    clearTimeout(this.#paused);
  }

  #pause(): void {
    this.#paused ??= setTimeout(() => {
      this.#paused = undefined;
      this.start();
    }, PAUSE_MS);
  }

  async #attempt(): Promise<void> {
    const { circuit, onFailed, onOpened, open } = this.#options;
    this.#count++;
    let isCounted = true;
    const discount = () => {
      if (isCounted) this.#count--;
      isCounted = false;
    };
    const timer = setTimeout(() => {
      discount();
      circuit.strained();
      this.start();
    }, SLOW_MS);
    const result = await open();
    clearTimeout(timer);
    discount();
    if ("kind" in result) {
      circuit.failed(result);
      return onFailed(result);
    }
    circuit.succeeded();
    onOpened(result);
  }
}
