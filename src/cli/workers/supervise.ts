import type { Config } from "../../server/config/config.ts";
import type { Host } from "../../server/runtime/host.ts";
import {
  claimPort,
  type Ended,
  openWorkerStarter,
  type WorkerProcess,
} from "../../server/runtime/workers.ts";
import type { Observe } from "../../server/telemetry/observe.ts";
import { explainListen } from "../serve/listen.ts";
import { FAILED, stop, WRONG_USAGE } from "../stop.ts";
import { describeEnd, keepWorker } from "./keep_worker.ts";
import { createMetricsCollector, type WorkerMessage } from "./share_metrics.ts";

/** What is supervised. */
export interface SuperviseOptions {
  readonly config: Config;
  readonly observe: Observe;
  /** Settles on the signal to stop. */
  readonly signal: Promise<string>;
  /** Number of workers. */
  readonly workers: number;
}

/** Workers end by themselves after ROWGATE_DRAIN_MS and ROWGATE_SHUTDOWN_MS; after this much longer they are killed. */
const GRACE_MS = 5000;

/**
 * Serves from several processes until a signal arrives, and gives the exit code. The first worker is
 * alone until the database is ready, so that a problem is found, and reported, only once.
 * @throws {Stop} when the service cannot start
 * @see docs/decisions/0036-workers.md
 */
export async function supervise(
  host: Host,
  { config, observe, signal, workers }: SuperviseOptions,
): Promise<number> {
  const starter = await openWorkerStarter();
  if (starter.obstacle !== undefined) {
    throw stop(WRONG_USAGE, `rowgate: ROWGATE_WORKERS cannot be used, ${starter.obstacle}`);
  }
  const port = await claim(config);
  const stopping = new AbortController();
  const running = new Set<WorkerProcess>();
  const kept: Promise<void>[] = [];
  const metrics = createMetricsCollector();
  let state: "starting" | "listening" | "prepared" = "starting";
  let fail = (_ended: Ended) => {};
  const failed = new Promise<Ended>((resolve) => fail = resolve);
  host.onSignal(() => {
    if (stopping.signal.aborted) killAll();
  });

  function keep(number: number): void {
    const start = () => startWorker(number);
    kept.push(keepWorker(start, { number, observe, stopping: stopping.signal }));
  }

  function startWorker(number: number): WorkerProcess {
    const place = `${number}/${workers}`;
    const worker = starter.start({ place, port, onMessage: (message) => receive(worker, message) });
    running.add(worker);
    void worker.ended.then((ended) => {
      running.delete(worker);
      metrics.retire(worker);
      if (state === "prepared" || !isFailure(ended, state)) return;
      stopping.abort();
      fail(ended);
    });
    return worker;
  }

  function receive(worker: WorkerProcess, received: unknown): void {
    const message = received as WorkerMessage;
    switch (message.kind) {
      case "listening":
        if (state !== "starting") break;
        observe({ kind: "listening", address: message.address });
        state = "listening";
        break;
      case "prepared":
        if (state === "prepared" || stopping.signal.aborted) break;
        state = "prepared";
        for (let number = 2; number <= workers; number++) keep(number);
        break;
      case "values":
        metrics.receive(message.id, message.values);
        break;
      case "print": {
        const { id } = message;
        void metrics.print(running).then((text) => worker.send({ kind: "printed", id, text }));
      }
    }
  }

  function killAll(): void {
    for (const worker of running) worker.kill();
  }

  keep(1);
  const outcome = await Promise.race([signal, failed]);
  if (typeof outcome !== "string") return exitCodeOf(outcome);
  stopping.abort();
  observe({ kind: "stopping", signal: outcome });
  for (const worker of running) worker.stop();
  let code = 0;
  const late = setTimeout(() => {
    code = FAILED;
    killAll();
  }, config.drainMs + config.shutdownMs + GRACE_MS);
  await Promise.all(kept);
  clearTimeout(late);
  return code;
}

/** Distinguishes a start that failed, and would fail again, from a worker that was ended from outside. */
function isFailure({ code, signal }: Ended, state: "starting" | "listening"): boolean {
  if (signal !== undefined) return state === "starting";
  return code !== 0;
}

/** The exit code of the service when its first worker could not start; that worker has said why. */
function exitCodeOf(ended: Ended): number {
  if (ended.code !== undefined) return ended.code === WRONG_USAGE ? WRONG_USAGE : FAILED;
  throw stop(FAILED, `rowgate: the first worker ended ${describeEnd(ended)}`);
}

async function claim(config: Config): Promise<number> {
  try {
    return await claimPort(config);
  } catch (error) {
    throw explainListen(error, config);
  }
}
