import {
  AggregatorRegistry,
  Counter,
  Gauge,
  Histogram,
  type MetricObjectWithValues,
  type MetricValue,
  Registry,
} from "prom-client";
import type { Observation, Observe } from "./observe.ts";

/** The sink that counts, and what it has counted. */
export interface Metrics {
  readonly observe: Observe;
  /** Everything as Prometheus text. */
  readonly print: () => Promise<string>;
  /** The same as data, to be added to those of other processes. */
  readonly collect: () => Promise<Figures>;
  /** Media type of that text. */
  readonly type: string;
}

/** What the figures are told with. */
export interface MetricsOptions {
  readonly version: string;
  /** Milliseconds of a clock that never goes back; tests give their own. */
  readonly now?: () => number;
}

/**
 * So many are counted together: one after another they find the counters' code in the processor's
 * caches, each by itself at the end of its request does not.
 */
const COUNTED_TOGETHER = 64;

/** From a look-up by key to the deadline of a statement, in seconds. */
const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/**
 * Makes the sink that turns what happens into metrics. Every label has a closed set of values: no
 * tenant, token, table or path stands in any, so their number stays what it is.
 * @see H15
 */
export function createMetrics(options: MetricsOptions): Metrics {
  const { version, now = () => performance.now() } = options;
  const registry = new Registry();
  const meters = openMeters(registry);
  meters.build.set({ version }, 1);
  let readAtMs: number | undefined;
  // Only what stands last is asked for, and these move several times in a request.
  const pools = new Map<string, Extract<Observation, { kind: "pool" }>>();
  let inFlight: number | undefined;
  const uncounted: Observation[] = [];

  function observe(observation: Observation): void {
    if (observation.kind === "pool") pools.set(observation.pool, observation);
    else if (observation.kind === "in_flight") inFlight = observation.requests;
    else {
      if (observation.kind === "catalogue_read") readAtMs = now() - observation.ageMs;
      if (uncounted.push(observation) === COUNTED_TOGETHER) count();
    }
  }

  function count(): void {
    for (const observation of uncounted.splice(0)) measure(meters, observation);
  }

  function settle(): void {
    count();
    if (inFlight !== undefined) meters.inFlight.set(inFlight);
    for (const { pool, size, inUse, waiting } of pools.values()) {
      meters.poolSize.set({ pool }, size);
      meters.poolInUse.set({ pool }, inUse);
      meters.poolWaiting.set({ pool }, waiting);
    }
    if (readAtMs !== undefined) meters.catalogueAge.set((now() - readAtMs) / 1000);
  }

  function print(): Promise<string> {
    settle();
    return registry.metrics();
  }

  function collect(): Promise<Figures> {
    settle();
    return registry.getMetricsAsJSON();
  }

  return { observe, print, collect, type: registry.contentType };
}

function measure(meters: ReturnType<typeof openMeters>, observation: Observation): void {
  switch (observation.kind) {
    case "request": {
      const { operation = "none", status, durationMs, rows, limited } = observation;
      meters.requests.inc({ operation, status });
      meters.duration.observe({ operation }, durationMs / 1000);
      if (limited !== undefined) meters.limited.inc({ limit: limited });
      if (rows !== undefined) meters.rows.inc({ operation }, rows);
      break;
    }
    case "failure":
      meters.failures.inc({ where: observation.where });
      break;
    case "pool_wait":
      meters.poolWait.observe({ pool: observation.pool }, observation.waitedMs / 1000);
      break;
    case "abandoned":
      meters.abandoned.set(observation.sessions);
      break;
    case "prepared":
      meters.prepared.set(observation.statements);
      break;
    case "gathered":
      meters.gathered.inc({ operation: observation.operation }, observation.requests);
      break;
    case "fault":
      meters.faults.inc({ fault: observation.fault });
      break;
    case "retry":
      meters.retries.inc({ fault: observation.fault });
      break;
    case "catalogue":
      meters.catalogueTables.set(observation.tables);
      meters.catalogueChanges.inc();
      break;
    case "catalogue_read":
      meters.catalogueReads.inc({ result: "read" });
      break;
    case "catalogue_failed":
      meters.catalogueReads.inc({ result: "failed" });
      break;
    case "token_lookup":
      meters.tokenLookups.inc({ result: observation.result });
      break;
    case "in_flight":
    case "pool":
    case "warning":
    case "audit_pruned":
    case "listening":
    case "stopping":
  }
}

function openMeters(registry: Registry) {
  const registers = [registry];
  const counter = <L extends string>(name: string, help: string, ...labelNames: L[]) =>
    new Counter<L>({ name: `rowgate_${name}`, help, labelNames, registers });
  const gauge = <L extends string>(name: string, help: string, ...labelNames: L[]) =>
    new Gauge<L>({ name: `rowgate_${name}`, help, labelNames, registers });
  /** Of several workers the largest stands for all: they hold the same. */
  const shared = <L extends string>(name: string, help: string, ...labelNames: L[]) =>
    new Gauge<L>({ name: `rowgate_${name}`, help, labelNames, registers, aggregator: "max" });
  const histogram = <L extends string>(name: string, help: string, ...labelNames: L[]) =>
    new Histogram<L>({ name: `rowgate_${name}`, help, labelNames, registers, buckets: SECONDS });
  return {
    build: shared("build_info", "Version of what runs; always 1", "version"),
    requests: counter("requests_total", "Requests answered", "operation", "status"),
    duration: histogram("request_duration_seconds", "From head to answer", "operation"),
    limited: counter("rate_limited_total", "Requests over a rate limit, by whose", "limit"),
    rows: counter("rows_total", "Rows returned or changed", "operation"),
    inFlight: gauge("requests_in_flight", "Requests that are not answered yet"),
    failures: counter(
      "failures_total",
      "Failures behind answers of 500 and above, by operation",
      "where",
    ),
    poolSize: gauge("pool_size", "Connections there may be", "pool"),
    poolInUse: gauge("pool_in_use", "Connections that run something", "pool"),
    poolWaiting: gauge("pool_waiting", "Statements that wait for a connection", "pool"),
    poolWait: histogram("pool_wait_seconds", "Time until a connection was free", "pool"),
    abandoned: gauge(
      "abandoned_sessions",
      "Connections whose statement was given up and still runs in Postgres",
    ),
    prepared: shared("prepared_statements", "Statement texts that are prepared"),
    gathered: counter(
      "gathered_requests_total",
      "Requests by key that went out together",
      "operation",
    ),
    faults: counter("database_faults_total", "Attempts that failed, by kind", "fault"),
    retries: counter("database_retries_total", "Attempts after the first, by fault", "fault"),
    catalogueAge: shared("catalogue_age_seconds", "Since the catalogue was read last"),
    catalogueTables: shared("catalogue_tables", "Tables of the catalogue in force"),
    catalogueReads: counter("catalogue_reads_total", "Readings of the catalogue", "result"),
    catalogueChanges: counter("catalogue_changes_total", "Readings that showed something new"),
    tokenLookups: counter("token_lookups_total", "Tokens looked up", "result"),
  };
}

/** The figures of one process, as data that goes from process to process. */
export type Figures = readonly MetricObjectWithValues<MetricValue<string>>[];

/** Adds figures of several processes up; gauges that all of them share are the largest. */
export async function addFigures(parts: readonly Figures[]): Promise<Figures> {
  return await add(parts).getMetricsAsJSON();
}

/** Prints the sum of the figures of several processes as Prometheus text. */
export function printFigures(parts: readonly Figures[]): Promise<string> {
  return add(parts).metrics();
}

/**
 * Gives what stays true of a process that does not answer, or is gone: a count that fell would be
 * taken for a restart, and all of it counted once more.
 */
export function keepCounts(figures: Figures): Figures {
  return figures.filter(({ type }) => String(type) !== "gauge");
}

function add(parts: readonly Figures[]) {
  return AggregatorRegistry.aggregate(parts as unknown as object[]);
}
