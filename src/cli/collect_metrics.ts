import { addFigures, type Figures, keepCounts, printFigures } from "../telemetry/sum_metrics.ts";
import type { WorkerProcess } from "../runtime/worker_process.ts";
import type { SupervisorMessage } from "./worker_messages.ts";

/** The figures of all workers of a service, the counts of those that are gone included. */
export interface Gathering {
  /** Asks all and prints the sum. */
  readonly print: (workers: Iterable<WorkerProcess>) => Promise<string>;
  /** Takes a worker's answer. */
  readonly take: (id: number, figures: Figures) => void;
  /** Keeps the counts that were last heard of a worker that has ended. */
  readonly leave: (worker: WorkerProcess) => void;
}

/** Of a worker that is busy for longer, the counts of its last answer stand in. */
const ANSWER_MS = 1000;

/**
 * Opens the gathering. What it prints never falls but for gauges: Prometheus would take a lower count
 * for a restart and count all of it anew. A killed worker takes with it what it counted since it was
 * asked last.
 */
export function gatherFigures(): Gathering {
  const waiting = new Map<number, (figures: Figures) => void>();
  const last = new Map<WorkerProcess, Figures>();
  let gone = Promise.resolve<Figures>([]);
  let lastId = 0;

  async function ask(worker: WorkerProcess): Promise<Figures> {
    const id = ++lastId;
    // Once it is gone, its counts are there as well.
    const known = keepCounts(last.get(worker) ?? []);
    const message: SupervisorMessage = { kind: "collect", id };
    let timer: ReturnType<typeof setTimeout> | undefined;
    const figures = await new Promise<Figures | undefined>((resolve) => {
      timer = setTimeout(() => resolve(undefined), ANSWER_MS);
      waiting.set(id, resolve);
      void worker.ended.then(() => resolve(undefined));
      worker.send(message);
    });
    clearTimeout(timer);
    waiting.delete(id);
    if (figures === undefined) return known;
    last.set(worker, figures);
    return figures;
  }

  async function print(workers: Iterable<WorkerProcess>): Promise<string> {
    return await printFigures(await Promise.all([gone, ...[...workers].map(ask)]));
  }

  function leave(worker: WorkerProcess): void {
    const counts = keepCounts(last.get(worker) ?? []);
    last.delete(worker);
    gone = gone.then((figures) => addFigures([figures, counts]));
  }

  return { print, leave, take: (id, figures) => waiting.get(id)?.(figures) };
}
