import {
  AggregatorRegistry,
  type MetricObjectWithValues,
  type MetricValue,
  Registry,
} from "prom-client";
import { VERSION } from "../config/config.ts";
import { type Meters, openMeters } from "./meters.ts";
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

function count(meters: Meters, observation: Observation): void {
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
