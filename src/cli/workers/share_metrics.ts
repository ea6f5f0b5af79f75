import {
  addFigures,
  type Figures,
  keepCounts,
  type Metrics,
  printFigures,
} from "../../telemetry/metrics.ts";
import type { SupervisorLink } from "../../runtime/supervisor_link.ts";

/** What a worker says to its supervisor. */
export type WorkerMessage =
  | { readonly kind: "listening"; readonly address: string }
  /** The database was there, and is what serving needs. */
  | { readonly kind: "prepared" }
  /** Asks for the figures of all workers, printed. */
  | { readonly kind: "print"; readonly id: number }
  | { readonly kind: "figures"; readonly id: number; readonly figures: Figures };

/**
 * A worker, as far as its metrics are concerned. Not the process itself: that reaches files with Deno's
 * types, which the declarations of the npm package must not need.
 */
interface MeasuredWorker {
  readonly send: (message: unknown) => void;
  readonly ended: Promise<unknown>;
}

/** What a supervisor says to a worker. */
export type SupervisorMessage =
  /** Asks for the worker's own figures. */
  | { readonly kind: "collect"; readonly id: number }
  | { readonly kind: "printed"; readonly id: number; readonly text: string };

/** A supervisor asks each worker for one second; one that says nothing for so long is stuck. */
const SUPERVISOR_ANSWER_MS = 3000;

/** Gives the supervisor a worker's figures, and the worker's clients those of all. */
export function shareMetrics(own: Metrics, link: SupervisorLink): Metrics {
  const waiting = new Map<number, (text: string) => void>();
  let lastId = 0;
  const tell = (message: WorkerMessage) => link.send(message);

  link.onMessage((received) => {
    const message = received as SupervisorMessage;
    if (message.kind === "printed") return waiting.get(message.id)?.(message.text);
    const { id } = message;
    void own.collect().then((figures) => tell({ kind: "figures", id, figures }));
  });

  function print(): Promise<string> {
    const id = ++lastId;
    return new Promise<string>((resolve) => {
      const timer = setTimeout(() => resolve(own.print()), SUPERVISOR_ANSWER_MS);
      waiting.set(id, (text) => {
        clearTimeout(timer);
        resolve(text);
      });
      tell({ kind: "print", id });
    }).finally(() => waiting.delete(id));
  }

  return { ...own, print };
}

/** The figures of all workers of a service, the counts of those that are gone included. */
export interface Gathering {
  /** Asks all and prints the sum. */
  readonly print: (workers: Iterable<MeasuredWorker>) => Promise<string>;
  /** Takes a worker's answer. */
  readonly take: (id: number, figures: Figures) => void;
  /** Keeps the counts that were last heard of a worker that has ended. */
  readonly leave: (worker: MeasuredWorker) => void;
}

/** Of a worker that is busy for longer, the counts of its last answer stand in. */
const WORKER_ANSWER_MS = 1000;

/**
 * Opens the gathering. What it prints never falls but for gauges: Prometheus would take a lower count
 * for a restart and count all of it anew. A killed worker takes with it what it counted since it was
 * asked last.
 */
export function gatherFigures(): Gathering {
  const waiting = new Map<number, (figures: Figures) => void>();
  const last = new Map<MeasuredWorker, Figures>();
  let gone = Promise.resolve<Figures>([]);
  let lastId = 0;

  async function ask(worker: MeasuredWorker): Promise<Figures> {
    const id = ++lastId;
    // Once it is gone, its counts are there as well.
    const known = keepCounts(last.get(worker) ?? []);
    const message: SupervisorMessage = { kind: "collect", id };
    let timer: ReturnType<typeof setTimeout> | undefined;
    const figures = await new Promise<Figures | undefined>((resolve) => {
      timer = setTimeout(() => resolve(undefined), WORKER_ANSWER_MS);
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

  async function print(workers: Iterable<MeasuredWorker>): Promise<string> {
    return await printFigures(await Promise.all([gone, ...[...workers].map(ask)]));
  }

  function leave(worker: MeasuredWorker): void {
    const counts = keepCounts(last.get(worker) ?? []);
    last.delete(worker);
    gone = gone.then((figures) => addFigures([figures, counts]));
  }

  return { print, leave, take: (id, figures) => waiting.get(id)?.(figures) };
}
