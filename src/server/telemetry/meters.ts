import { Counter, Gauge, Histogram, type Registry } from "prom-client";

/** Buckets, in seconds: from a lookup by key to the timeout of a statement. */
const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** The metrics of a process, each with its name, its help text and its labels. */
export type Meters = ReturnType<typeof openMeters>;

/** Registers all metrics. */
export function openMeters(registry: Registry) {
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
    catalogueChanges: counter(
      "catalogue_changes_total",
      "Reads of the catalogue that found a change",
    ),
    changesEntries: shared("changes_entries", "Entries in the log of the changes feeds, estimated"),
    changesAge: shared("changes_oldest_seconds", "Age of the oldest entry in that log"),
    changesTransaction: shared(
      "changes_transaction_seconds",
      "Age of the oldest running transaction; the feeds do not have its changes yet",
    ),
    changesWaiting: gauge("changes_waiting", "Clients that wait for changes"),
    webhookAttempts: counter("webhook_attempts_total", "Messages sent to webhooks", "result"),
    webhookDuration: histogram(
      "webhook_attempt_seconds",
      "Response time of the receivers of webhooks",
    ),
    webhooksDisabled: counter(
      "webhooks_disabled_total",
      "Webhooks that were disabled because they could not be delivered",
    ),
    webhooks: shared(
      "webhooks",
      "Webhooks by state; failing ones are also counted as enabled",
      "state",
    ),
    toolCalls: counter("tool_calls_total", "Calls of tools by agents", "tool", "result"),
    tokenLookups: counter("token_lookups_total", "Tokens looked up", "result"),
  };
}
