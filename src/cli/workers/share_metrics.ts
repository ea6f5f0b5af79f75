import {
  addMetrics,
  keepCounters,
  type Metrics,
  type MetricValues,
  printMetrics,
} from "../../server/telemetry/metrics.ts";

// Any worker can be asked for /metrics, and answers with the sum over all workers:
//
//   worker --print--> supervisor --collect--> each worker
//   worker <-printed- supervisor <--values--- each worker

/** What a worker sends to its supervisor. */
export type WorkerMessage =
  | { readonly kind: "listening"; readonly address: string }
  /** The database is available and prepared. */
  | { readonly kind: "prepared" }
  /** Asks for the metrics of all workers as text. */
  | { readonly kind: "print"; readonly id: number }
  | { readonly kind: "values"; readonly id: number; readonly values: MetricValues };

/** What a supervisor sends to a worker. */
export type SupervisorMessage =
  /** Asks for the worker's own metrics. */
  | { readonly kind: "collect"; readonly id: number }
  | { readonly kind: "printed"; readonly id: number; readonly text: string };

// What metrics need of the processes. These are not the types of `runtime/`: they lead to files with
// Deno's own types, which the declarations of the npm package must not need.

/** The channel of a worker to its supervisor. */
export interface SupervisorChannel {
  /** Number of the worker, from 1 on. */
  readonly worker: number;
  readonly send: (message: unknown) => void;
  readonly onMessage: (listener: (message: unknown) => void) => void;
}

/** A worker, as its supervisor sees it. */
interface MeasuredWorker {
  readonly send: (message: unknown) => void;
  readonly ended: Promise<unknown>;
}

/** A worker that takes longer is left out, with the counters of its last answer in its place. */
const WORKER_TIMEOUT_MS = 1000;
/** A supervisor that takes longer is stuck; the worker then answers with its own metrics. */
const SUPERVISOR_TIMEOUT_MS = 3000;

/** Sends a worker's metrics to the supervisor when asked, and prints those of all workers. */
export function shareMetrics(own: Metrics, supervisor: SupervisorChannel): Metrics {
  const waiting = new Map<number, (text: string) => void>();
  let lastId = 0;
  const send = (message: WorkerMessage) => supervisor.send(message);

  supervisor.onMessage((received) => {
    const message = received as SupervisorMessage;
    if (message.kind === "printed") return waiting.get(message.id)?.(message.text);
    const { id } = message;
    void own.collect().then((values) => send({ kind: "values", id, values }));
  });

  function print(): Promise<string> {
    const id = ++lastId;
    return new Promise<string>((resolve) => {
      const timer = setTimeout(() => resolve(own.print()), SUPERVISOR_TIMEOUT_MS);
      waiting.set(id, (text) => {
        clearTimeout(timer);
        resolve(text);
      });
      send({ kind: "print", id });
    }).finally(() => waiting.delete(id));
  }

  return { ...own, print };
}

/** Collects the metrics of all workers; the supervisor has one. */
export interface MetricsCollector {
  /** Asks all workers and prints the sum. */
  readonly print: (workers: Iterable<MeasuredWorker>) => Promise<string>;
  /** Takes a worker's answer. */
  readonly receive: (id: number, values: MetricValues) => void;
  /** Keeps the last known counters of a worker that has ended. */
  readonly retire: (worker: MeasuredWorker) => void;
}

/**
 * Makes the supervisor's collector. The sum of a counter never falls when a worker ends: Prometheus
 * would take that for a restart and count everything again. What a killed worker has counted since it
 * was last asked is lost.
 */
export function createMetricsCollector(): MetricsCollector {
  const waiting = new Map<number, (values: MetricValues) => void>();
  const last = new Map<MeasuredWorker, MetricValues>();
  let retired = Promise.resolve<MetricValues>([]);
  let lastId = 0;

  async function ask(worker: MeasuredWorker): Promise<MetricValues> {
    const id = ++lastId;
    // Read before the wait: `retire` takes them over when the worker ends meanwhile.
    const known = keepCounters(last.get(worker) ?? []);
    const message: SupervisorMessage = { kind: "collect", id };
    let timer: ReturnType<typeof setTimeout> | undefined;
    const values = await new Promise<MetricValues | undefined>((resolve) => {
      timer = setTimeout(() => resolve(undefined), WORKER_TIMEOUT_MS);
      waiting.set(id, resolve);
      void worker.ended.then(() => resolve(undefined));
      worker.send(message);
    });
    clearTimeout(timer);
    waiting.delete(id);
    if (values === undefined) return known;
    last.set(worker, values);
    return values;
  }

  async function print(workers: Iterable<MeasuredWorker>): Promise<string> {
    return await printMetrics(await Promise.all([retired, ...[...workers].map(ask)]));
  }

  function retire(worker: MeasuredWorker): void {
    const counters = keepCounters(last.get(worker) ?? []);
    last.delete(worker);
    retired = retired.then((values) => addMetrics([values, counters]));
  }

  return { print, retire, receive: (id, values) => waiting.get(id)?.(values) };
}
