import type { Ended, WorkerProcess } from "../../server/runtime/workers.ts";
import type { Observe } from "../../server/telemetry/observe.ts";

/** Which worker is kept running, and until when. */
export interface KeepWorkerOptions {
  /** From 1 on. */
  readonly number: number;
  readonly observe: Observe;
  /** When it is aborted, a worker that ends is no longer replaced. */
  readonly stopping: AbortSignal;
}

const MIN_PAUSE_MS = 200;
const MAX_PAUSE_MS = 10_000;
/** After a worker has lived this long, the next pause is the shortest again. */
const STABLE_MS = 60_000;

/** Starts a worker, and another one whenever it has ended, until the service stops. */
export async function keepWorker(
  start: () => WorkerProcess,
  { number, observe, stopping }: KeepWorkerOptions,
): Promise<void> {
  let pauseMs = MIN_PAUSE_MS;
  while (!stopping.aborted) {
    const startedMs = performance.now();
    const { pid, ended } = start();
    const end = describeEnd(await ended);
    if (stopping.aborted) return;
    if (performance.now() - startedMs >= STABLE_MS) pauseMs = MIN_PAUSE_MS;
    const message = `worker ${number} (process ${pid}) ended ${end}; ` +
      `it is replaced in ${pauseMs / 1000} s`;
    observe({ kind: "warning", message });
    await pause(pauseMs, stopping);
    pauseMs = Math.min(MAX_PAUSE_MS, pauseMs * 2);
  }
}

/** Describes how a worker ended, as the end of a sentence. */
export function describeEnd({ code, signal }: Ended): string {
  if (signal !== undefined) return `on ${signal}`;
  return code === undefined ? "before it was started" : `with exit code ${code}`;
}

function pause(ms: number, stopping: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(end, ms);
    stopping.addEventListener("abort", end, { once: true });

    function end(): void {
      clearTimeout(timer);
      stopping.removeEventListener("abort", end);
      resolve();
    }
  });
}
