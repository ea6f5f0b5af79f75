import type { Failure } from "./failure.ts";
import { fail } from "./failure.ts";

/** Lets so many in at a time, the others one after another. */
export interface Gate {
  /** Gives the way out, to be called once; or a failure when it took too long or nobody waits. */
  readonly enter: (signal?: AbortSignal) => Promise<(() => void) | Failure>;
}

/**
 * Makes a gate for `size` at a time; whoever waits longer than `waitMs` is turned away. The driver's
 * own queue has no bound in length or time.
 * @see RELIABILITY 5
 */
export function openGate(size: number, waitMs: number): Gate {
  let inside = 0;
  const waiting = new Set<() => void>();

  function leave(): void {
    const [next] = waiting;
    if (next === undefined) inside--;
    else next();
  }

  function enter(signal?: AbortSignal): Promise<(() => void) | Failure> {
    if (inside < size) {
      inside++;
      return Promise.resolve(leaveOnce());
    }
    return new Promise((resolve) => {
      const settle = (result: (() => void) | Failure) => {
        waiting.delete(admit);
        clearTimeout(timer);
        signal?.removeEventListener("abort", giveUp);
        resolve(result);
      };
      const admit = () => settle(leaveOnce());
      const giveUp = () => settle(fail("timeout", "ABORTED"));
      const timer = setTimeout(() => settle(fail("unavailable", "POOL_WAIT")), waitMs);
      signal?.addEventListener("abort", giveUp);
      waiting.add(admit);
    });
  }

  function leaveOnce(): () => void {
    let left = false;
    return () => {
      if (left) return;
      left = true;
      leave();
    };
  }

  return { enter };
}
