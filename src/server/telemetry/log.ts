import { blankControls, redactTokens } from "../../basics/text/redact.ts";
import type { Config } from "../config/config.ts";
import type { Measurement, Observation, Observe } from "./observe.ts";

/** Where log lines go, and in which form. */
export interface LogOptions {
  /** Takes a line that is not printed yet, so that several can be printed and written together. */
  readonly write: (print: () => string) => void;
  /** True for text that a person reads at a terminal; false for JSON, one object per line. */
  readonly human: boolean;
  /** Number of the worker that writes, in each line. */
  readonly worker?: number | undefined;
  readonly now?: () => Date;
}

type Logged = Exclude<Observation, Measurement>;

type Level = Exclude<Config["logLevel"], "silent">;

const LEVELS: readonly Config["logLevel"][] = ["debug", "info", "warn", "error", "silent"];

/**
 * Makes the sink that writes log lines of the given level and above; it never throws. No line holds a
 * token, a body or a text of the database.
 * @see R27, R28, A25
 */
export function createLog(level: Config["logLevel"], options: LogOptions): Observe {
  const { write, human, worker, now = () => new Date() } = options;
  const prefix = worker === undefined ? "" : `worker ${worker}: `;
  const member = worker === undefined ? "" : `"worker":${worker},`;
  const least = LEVELS.indexOf(level);
  return function observe(observation) {
    if (isMeasurement(observation)) return;
    const found = levelOf(observation);
    if (LEVELS.indexOf(found) < least) return;
    const at = now();
    try {
      write(() => print(observation, found, at));
    } catch {
      // A log that cannot be written is no reason to fail a request.
    }
  };

  function print(observation: Logged, level: Level, at: Date): string {
    const time = at.toISOString();
    const text = human
      ? `${time.slice(11, 23)} ${level.padEnd(5)} ${prefix}${describe(observation)}`
      : `{"time":"${time}","level":"${level}",${member}${JSON.stringify(observation).slice(1)}`;
    return `${redactTokens(text)}\n`;
  }
}

const MEASUREMENTS: Readonly<Record<Measurement["kind"], true>> = {
  in_flight: true,
  pool: true,
  pool_wait: true,
  abandoned: true,
  rate_leases: true,
  exports: true,
  prepared: true,
  batch: true,
  webhooks: true,
  tool_call: true,
  replayed: true,
  fault: true,
  retry: true,
  catalogue_read: true,
  changes_waiting: true,
  changes_log: true,
  read_from: true,
  standby: true,
  token_lookup: true,
};

function isMeasurement(observation: Observation): observation is Measurement {
  return observation.kind in MEASUREMENTS;
}

function levelOf(observation: Logged): Level {
  switch (observation.kind) {
    case "request":
      return observation.status >= 500 ? "warn" : "info";
    case "failure":
      return "error";
    case "export":
      return observation.result === "complete" || observation.result === "gone" ? "info" : "warn";
    case "catalogue_failed":
    case "webhook_disabled":
    case "warning":
      return "warn";
    case "catalogue":
    case "audit_pruned":
    case "changes_pruned":
    case "answers_pruned":
    case "webhook_sent":
    case "console_built":
    case "listening":
    case "stopping":
      return "info";
  }
}

function describe(observation: Logged): string {
  const text = describeOnce(observation);
  if (!("repeated" in observation) || observation.repeated === undefined) return text;
  return `${text} (${observation.repeated} more times)`;
}

function describeOnce(observation: Logged): string {
  switch (observation.kind) {
    case "request": {
      const { method, status, durationMs, tenant, rows } = observation;
      const path = blankControls(observation.path);
      const owner = tenant === undefined ? "" : ` tenant ${blankControls(tenant)}`;
      const count = rows === undefined ? "" : ` ${rows} rows`;
      return `${method} ${path} ${status} ${durationMs} ms${owner}${count}`;
    }
    case "failure":
      return `failed with ${observation.code} in ${observation.where}, request ${observation.requestId}`;
    case "catalogue":
      return `catalogue of ${observation.tables} tables loaded (${observation.reason})`;
    case "catalogue_failed":
      return `the catalogue could not be read (${observation.code})`;
    case "warning":
      return blankControls(observation.message);
    case "audit_pruned":
      return `${observation.rows} old audit records deleted`;
    case "changes_pruned":
      return `${observation.rows} old entries of the changes feeds deleted`;
    case "answers_pruned":
      return `${observation.rows} old answers to idempotency keys deleted`;
    case "webhook_sent": {
      const { webhookId, table, host, attempt, result, error, durationMs } = observation;
      const detail = error === undefined ? "" : ` (${error})`;
      return `webhook ${webhookId} ${table} to ${host} attempt ${attempt} ${result}${detail} ` +
        `${durationMs} ms`;
    }
    case "webhook_disabled":
      return `webhook ${observation.webhookId} of tenant ${
        blankControls(observation.tenant)
      } is disabled: ${blankControls(observation.reason)}`;
    case "export": {
      const { table, rows, bytes, durationMs, result, code, requestId } = observation;
      const cause = code === undefined ? "" : ` (${code})`;
      return `export of ${table} ${result}${cause}: ${rows} rows, ${bytes} bytes, ` +
        `${durationMs} ms, request ${requestId}`;
    }
    case "console_built":
      return `console built in ${observation.durationMs} ms`;
    case "listening":
      return `listening on ${observation.address}`;
    case "stopping":
      return `stopping on ${observation.signal}`;
  }
}
