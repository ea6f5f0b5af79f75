import type { Config } from "../../config/config.ts";
import type { Observe } from "../../telemetry/observe.ts";
import { claimPort } from "../../runtime/claim_port.ts";
import type { Host } from "../../runtime/host.ts";
import { type Ended, openWorkerStarter, type WorkerProcess } from "../../runtime/worker_process.ts";
import { gatherFigures, type WorkerMessage } from "./share_metrics.ts";
import { describeEnd, keepWorker } from "./keep_worker.ts";
import { explainListen } from "../serve/listen.ts";
import { FAILED, stop, WRONG_USAGE } from "../stop.ts";

/** What is supervised. */
export interface SuperviseOptions {
  readonly config: Config;
  readonly observe: Observe;
  /** Settles on the signal to stop. */
  readonly signal: Promise<string>;
  /** How many there are to be. */
  readonly workers: number;
}

/** Workers end by themselves after ROWGATE_SHUTDOWN_MS and what closing takes; then they are ended. */
const GRACE_MS = 5000;

/**
 * Serves from several processes until a signal comes, and gives the exit code. The first one is
 * alone until the database is ready: what is wrong is found out, and told, once.
 * @throws {Stop} when it can not start
 * @see docs/decisions/0170-workers.md
 */
export async function supervise(
  host: Host,
  { config, observe, signal, workers }: SuperviseOptions,
): Promise<number> {
  const starter = await openWorkerStarter();
  if (starter.refusal !== undefined) {
    throw stop(WRONG_USAGE, `rowgate: ROWGATE_WORKERS can not be heeded, ${starter.refusal}`);
  }
  const port = await claim(config);
  const stopping = new AbortController();
  const running = new Set<WorkerProcess>();
  const places: Promise<void>[] = [];
  const gathering = gatherFigures();
  let state: "starting" | "listening" | "prepared" = "starting";
  let fail = (_ended: Ended) => {};
  const failed = new Promise<Ended>((resolve) => fail = resolve);
  host.onSignal(() => {
    if (stopping.signal.aborted) endAll();
  });

  function keep(number: number): void {
    const start = () => startWorker(number);
    places.push(keepWorker(start, { number, observe, stopping: stopping.signal }));
  }

  function startWorker(number: number): WorkerProcess {
    const place = `${number}/${workers}`;
    const worker = starter.start({ place, port, told: (message) => hear(worker, message) });
    running.add(worker);
    void worker.ended.then((ended) => {
      running.delete(worker);
      gathering.leave(worker);
      if (state === "prepared" || !isFailure(ended, state)) return;
      stopping.abort();
      fail(ended);
    });
    return worker;
  }

  function hear(worker: WorkerProcess, received: unknown): void {
    const message = received as WorkerMessage;
    switch (message.kind) {
      case "listening":
        if (state === "starting") observe({ kind: "listening", address: message.address });
        if (state === "starting") state = "listening";
        break;
      case "prepared":
        if (state === "prepared" || stopping.signal.aborted) break;
        state = "prepared";
        for (let number = 2; number <= workers; number++) keep(number);
        break;
      case "figures":
        gathering.take(message.id, message.figures);
        break;
      case "print": {
        const { id } = message;
        void gathering.print(running).then((text) => worker.send({ kind: "printed", id, text }));
      }
    }
  }

  function endAll(): void {
    for (const worker of running) worker.kill();
  }

  keep(1);
  const outcome = await Promise.race([signal, failed]);
  if (typeof outcome !== "string") return explainStart(outcome);
  stopping.abort();
  observe({ kind: "stopping", signal: outcome });
  for (const worker of running) worker.stop();
  let code = 0;
  const late = setTimeout(() => {
    code = FAILED;
    endAll();
  }, config.shutdownMs + GRACE_MS);
  await Promise.all(places);
  clearTimeout(late);
  return code;
}

/** Tells a start that went wrong, and would again, from an end that came from outside. */
function isFailure({ code, signal }: Ended, state: "starting" | "listening"): boolean {
  if (signal !== undefined) return state === "starting";
  return code !== 0;
}

/** A worker that exits has said why. */
function explainStart(ended: Ended): number {
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
