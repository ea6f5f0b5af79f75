import type { Failure } from "./failure.ts";
import { fail } from "./failure.ts";

/** Lets so many in at a time, the others one after another. */
export interface Gate {
  /** Gives the way out, to be called once; or a failure when it took too long or nobody waits. */
  readonly enter: (signal?: AbortSignal) => Promise<(() => void) | Failure>;
}

/** Hears of a gate: how many it has room for, are inside, wait; how long one has waited. */
export interface WatchGate {
  readonly moved: (size: number, inside: number, waiting: number) => void;
  readonly waited: (ms: number) => void;
}

/**
 * Makes a gate for `size` at a time; whoever waits longer than `waitMs` is turned away. The driver's
 * own queue has no bound in length or time.
 * @see RELIABILITY 5
 */
export function openGate(size: number, waitMs: number, watch?: WatchGate): Gate {
  let inside = 0;
  const waiting = new Set<() => void>();
  tell();

  function tell(): void {
    watch?.moved(size, inside, waiting.size);
  }

  function leave(): void {
    const [next] = waiting;
    if (next === undefined) inside--;
    else next();
    tell();
  }

  function enter(signal?: AbortSignal): Promise<(() => void) | Failure> {
    if (inside < size) {
      inside++;
      tell();
      watch?.waited(0);
      return Promise.resolve(leaveOnce());
    }
    const arrivedMs = performance.now();
    return new Promise((resolve) => {
      const settle = (result: (() => void) | Failure) => {
        waiting.delete(admit);
        clearTimeout(timer);
        signal?.removeEventListener("abort", giveUp);
        tell();
        watch?.waited(performance.now() - arrivedMs);
        resolve(result);
      };
      const admit = () => settle(leaveOnce());
      const giveUp = () => settle(fail("timeout", "ABORTED"));
      const timer = setTimeout(() => settle(fail("unavailable", "POOL_WAIT")), waitMs);
      signal?.addEventListener("abort", giveUp);
      waiting.add(admit);
      tell();
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
