import {
  AggregatorRegistry,
  Counter,
  Gauge,
  Histogram,
  type MetricObjectWithValues,
  type MetricValue,
  Registry,
} from "prom-client";
import { VERSION } from "../config/config.ts";
import type { Observation, Observe } from "./observe.ts";

/** The sink that counts, and what it has counted. */
export interface Metrics {
  readonly observe: Observe;
  /** All metrics as Prometheus text. */
  readonly print: () => Promise<string>;
  /** The same as data, to be added to the metrics of other processes. */
  readonly collect: () => Promise<MetricValues>;
  /** Media type of the text. */
  readonly type: string;
}

/** The metrics of one process, as data that can be sent to another. */
export type MetricValues = readonly MetricObjectWithValues<MetricValue<string>>[];

/** Clock of the metrics; tests pass their own. */
export interface MetricsOptions {
  /** Milliseconds of a monotonic clock. */
  readonly now?: () => number;
}

/** Buckets, in seconds: from a lookup by key to the timeout of a statement. */
const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/**
 * Makes the sink that turns observations into metrics. Every label has a closed set of values and
 * none holds a tenant, token, table or path, so the number of series stays the same.
 * @see H15
 */
export function createMetrics(options: MetricsOptions = {}): Metrics {
  const { now = () => performance.now() } = options;
  const registry = new Registry();
  const meters = openMeters(registry);
  meters.build.set({ version: VERSION }, 1);
  let readAtMs: number | undefined;
  // Only the last value of these matters, and they change several times in a request.
  const pools = new Map<string, Extract<Observation, { kind: "pool" }>>();
  let inFlight: number | undefined;

  function observe(observation: Observation): void {
    if (observation.kind === "pool") pools.set(observation.pool, observation);
    else if (observation.kind === "in_flight") inFlight = observation.requests;
    else {
      if (observation.kind === "catalogue_read") readAtMs = now() - observation.ageMs;
      count(meters, observation);
    }
  }

  function bringUpToDate(): void {
    if (inFlight !== undefined) meters.inFlight.set(inFlight);
    for (const { pool, size, inUse, waiting } of pools.values()) {
      meters.poolSize.set({ pool }, size);
      meters.poolInUse.set({ pool }, inUse);
      meters.poolWaiting.set({ pool }, waiting);
    }
    if (readAtMs !== undefined) meters.catalogueAge.set((now() - readAtMs) / 1000);
  }

  function print(): Promise<string> {
    bringUpToDate();
    return registry.metrics();
  }

  function collect(): Promise<MetricValues> {
    bringUpToDate();
    return registry.getMetricsAsJSON();
  }

  return { observe, print, collect, type: registry.contentType };
}

function count(meters: ReturnType<typeof openMeters>, observation: Observation): void {
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
    case "exports":
      meters.exportsRunning.set(observation.running);
      break;
    case "export":
      meters.exports.inc({ result: observation.result });
      meters.exportedRows.inc(observation.rows);
      meters.exportedBytes.inc(observation.bytes);
      break;
    case "rate_leases":
      meters.rateLeases.inc({ result: observation.result });
      break;
    case "rate_members":
      meters.rateMembers.set(observation.members);
      break;
    case "prepared":
      meters.prepared.set(observation.statements);
      break;
    case "batch":
      meters.batched.inc({ operation: observation.operation }, observation.requests);
      break;
    case "replayed":
      meters.replays.inc();
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
      meters.catalogueTablesRead.inc(observation.tables);
      break;
    case "catalogue_failed":
      meters.catalogueReads.inc({ result: "failed" });
      break;
    case "changes_log":
      meters.changesEntries.set(observation.entries);
      meters.changesAge.set(observation.oldestSeconds);
      meters.changesTransaction.set(observation.transactionSeconds);
      break;
    case "read_from":
      meters.readsFrom.inc({ server: observation.server });
      break;
    case "standby": {
      const { standby, lagMs, usable } = observation;
      meters.standbyLag.set({ standby }, lagMs / 1000);
      meters.standbyUsable.set({ standby }, usable ? 1 : 0);
      break;
    }
    case "changes_waiting":
      meters.changesWaiting.set(observation.clients);
      break;
    case "token_lookup":
      meters.tokenLookups.inc({ result: observation.result });
      break;
    case "tool_call":
      meters.toolCalls.inc({ tool: observation.tool, result: observation.result });
      break;
    case "webhook_sent":
      meters.webhookAttempts.inc({ result: observation.result });
      meters.webhookDuration.observe(observation.durationMs / 1000);
      break;
    case "webhook_disabled":
      meters.webhooksDisabled.inc();
      break;
    case "webhooks":
      for (const state of ["enabled", "failing", "disabled"] as const) {
        meters.webhooks.set({ state }, observation[state]);
      }
      break;
    case "in_flight":
    case "pool":
    case "warning":
    case "audit_pruned":
    case "changes_pruned":
    case "answers_pruned":
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
  /** All workers have the same value; the largest is shown, not the sum. */
  const shared = <L extends string>(name: string, help: string, ...labelNames: L[]) =>
    new Gauge<L>({ name: `rowgate_${name}`, help, labelNames, registers, aggregator: "max" });
  const histogram = <L extends string>(name: string, help: string, ...labelNames: L[]) =>
    new Histogram<L>({ name: `rowgate_${name}`, help, labelNames, registers, buckets: SECONDS });
  return {
    build: shared("build_info", "Version of the service; always 1", "version"),
    requests: counter("requests_total", "Requests answered", "operation", "status"),
    duration: histogram(
      "request_duration_seconds",
      "Time from the head of a request to its response",
      "operation",
    ),
    limited: counter("rate_limited_total", "Requests rejected by a rate limit", "limit"),
    rateLeases: counter(
      "rate_leases_total",
      "Statements that leased from the rate limit of all instances",
      "result",
    ),
    rateMembers: shared("rate_members", "Processes that share the rate limit"),
    rows: counter("rows_total", "Rows returned or updated", "operation"),
    inFlight: gauge("requests_in_flight", "Requests not answered yet"),
    failures: counter("failures_total", "Failures behind responses of 500 and above", "where"),
    poolSize: gauge("pool_size", "Most connections of the pool", "pool"),
    poolInUse: gauge("pool_in_use", "Connections that run a statement", "pool"),
    poolWaiting: gauge("pool_waiting", "Statements that wait for a connection", "pool"),
    poolWait: histogram("pool_wait_seconds", "Time spent waiting for a connection", "pool"),
    exportsRunning: gauge("exports_running", "Exports that run"),
    exports: counter("exports_total", "Exports that have ended", "result"),
    exportedRows: counter("exported_rows_total", "Rows that exports have read"),
    exportedBytes: counter("exported_bytes_total", "Bytes of exports before compression"),
    abandoned: gauge(
      "abandoned_sessions",
      "Connections whose statement was given up and still runs in Postgres",
    ),
    prepared: shared("prepared_statements", "Prepared statement texts"),
    batched: counter(
      "gathered_requests_total",
      "Requests sent to Postgres in a batch",
      "operation",
    ),
    replays: counter(
      "idempotent_replays_total",
      "Updates answered with what was kept for their Idempotency-Key",
    ),
    faults: counter("database_faults_total", "Failed attempts of statements", "fault"),
    retries: counter("database_retries_total", "Repeated attempts of statements", "fault"),
    readsFrom: counter("reads_total", "Queries by the kind of server that they run on", "server"),
    standbyLag: shared(
      "standby_lag_seconds",
      "How far a standby is behind; +Inf: unknown",
      "standby",
    ),
    standbyUsable: shared("standby_usable", "1 while queries are sent to a standby", "standby"),
    catalogueAge: shared("catalogue_age_seconds", "Time since the catalogue was last read"),
    catalogueTables: shared("catalogue_tables", "Exposed tables"),
    catalogueReads: counter("catalogue_reads_total", "Reads of the catalogue", "result"),
    catalogueTablesRead: counter(
      "catalogue_tables_read_total",
      "Tables that were described again, because they may have changed",
    ),
    catalogueChanges: counter(
      "catalogue_changes_total",
      "Reads of the catalogue that found a change",
    ),
    changesEntries: shared("changes_entries", "Entries in the log of the changes feeds, estimated"),
    changesAge: shared("changes_oldest_seconds", "Age of the oldest entry in that log"),
    changesTransaction: shared(
      "changes_transaction_seconds",
      "How long the oldest running transaction has been seen; what it wrote may still come",
    ),
    changesWaiting: gauge("changes_waiting", "Clients that wait for changes"),
    webhookAttempts: counter("webhook_attempts_total", "Messages sent to webhooks", "result"),
    webhookDuration: histogram("webhook_attempt_seconds", "Time that receivers of webhooks took"),
    webhooksDisabled: counter(
      "webhooks_disabled_total",
      "Webhooks that were disabled because they could not be delivered",
    ),
    webhooks: shared("webhooks", "Webhooks; those that fail are enabled too", "state"),
    toolCalls: counter("tool_calls_total", "Calls of tools by agents", "tool", "result"),
    tokenLookups: counter("token_lookups_total", "Tokens looked up", "result"),
  };
}

/** Adds the metrics of several processes; of gauges that all share, the largest is kept. */
export async function addMetrics(parts: readonly MetricValues[]): Promise<MetricValues> {
  return await aggregate(parts).getMetricsAsJSON();
}

/** Prints the sum of the metrics of several processes as Prometheus text. */
export function printMetrics(parts: readonly MetricValues[]): Promise<string> {
  return aggregate(parts).metrics();
}

/**
 * Keeps the counters and histograms, which remain valid for a process that has ended or does not
 * answer. Without them, Prometheus would take the lower sum for a restart and count everything again.
 */
export function keepCounters(values: MetricValues): MetricValues {
  return values.filter(({ type }) => String(type) !== "gauge");
}

function aggregate(parts: readonly MetricValues[]) {
  return AggregatorRegistry.aggregate(parts as unknown as object[]);
}
