import type { Observe } from "../../telemetry/observe.ts";
import type { Ended, WorkerProcess } from "../../runtime/worker_process.ts";

/** Whose place is kept, and who hears of it. */
export interface KeepWorkerOptions {
  /** From 1 on. */
  readonly number: number;
  readonly observe: Observe;
  /** From then on nobody takes the place of who has ended. */
  readonly stopping: AbortSignal;
}

const MIN_PAUSE_MS = 200;
const MAX_PAUSE_MS = 10_000;
/** After a life so long the next pause is the shortest again. */
const PROVEN_MS = 60_000;

/** Runs a worker, and another in its place when it has ended, until all stop. */
export async function keepWorker(
  start: () => WorkerProcess,
  { number, observe, stopping }: KeepWorkerOptions,
): Promise<void> {
  let pauseMs = MIN_PAUSE_MS;
  while (!stopping.aborted) {
    const startedMs = performance.now();
    const { pid, ended } = start();
    const how = describeEnd(await ended);
    if (stopping.aborted) return;
    if (performance.now() - startedMs >= PROVEN_MS) pauseMs = MIN_PAUSE_MS;
    const message = `worker ${number}, process ${pid}, ended ${how}; ` +
      `another takes its place in ${pauseMs / 1000} s`;
    observe({ kind: "warning", message });
    await pause(pauseMs, stopping);
    pauseMs = Math.min(MAX_PAUSE_MS, pauseMs * 2);
  }
}

/** Says how a worker ended, as the end of a sentence. */
export function describeEnd({ code, signal }: Ended): string {
  if (signal !== undefined) return `on ${signal}`;
  return code === undefined ? "before it was started" : `with ${code}`;
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
