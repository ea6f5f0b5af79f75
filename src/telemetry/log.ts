import { blankControls, redactTokens } from "../text/redact.ts";
import type { Config } from "../config/config.ts";
import type { Measured, Observation, Observe } from "./observe.ts";

/** Where log lines go, and for whom. */
export interface LogOptions {
  /** Takes a line that is still to be printed, at once or together with those that follow. */
  readonly write: (print: () => string) => void;
  /** True for a person at a terminal; false for JSON, one object a line. */
  readonly human: boolean;
  /** Which of several workers writes, told in each line. */
  readonly worker?: number | undefined;
  readonly now?: () => Date;
}

type Logged = Exclude<Observation, Measured>;

type Level = Exclude<Config["logLevel"], "silent">;

const LEVELS: readonly Config["logLevel"][] = ["debug", "info", "warn", "error", "silent"];

/**
 * Makes the sink that turns what happens into log lines of the level and above; never throws. No line
 * holds a token, a body or a text of the database.
 * @see R27, R28, A25
 */
export function createLog(level: Config["logLevel"], options: LogOptions): Observe {
  const { write, human, worker, now = () => new Date() } = options;
  const whose = worker === undefined ? "" : `worker ${worker}: `;
  const member = worker === undefined ? "" : `"worker":${worker},`;
  const least = LEVELS.indexOf(level);
  return function observe(observation) {
    if (isMeasured(observation)) return;
    const found = levelOf(observation);
    if (LEVELS.indexOf(found) < least) return;
    const at = now();
    try {
      write(() => print(observation, found, at));
    } catch {
      // A log that can not be written is no reason to refuse a request.
    }
  };

  function print(observation: Logged, level: Level, at: Date): string {
    const time = at.toISOString();
    const text = human
      ? `${time.slice(11, 23)} ${level.padEnd(5)} ${whose}${describe(observation)}`
      : `{"time":"${time}","level":"${level}",${member}${JSON.stringify(observation).slice(1)}`;
    return `${redactTokens(text)}\n`;
  }
}

/** What is there to be counted. */
const MEASURED: Readonly<Record<Measured["kind"], true>> = {
  in_flight: true,
  pool: true,
  pool_wait: true,
  abandoned: true,
  prepared: true,
  gathered: true,
  fault: true,
  retry: true,
  catalogue_read: true,
  token_lookup: true,
};

function isMeasured(observation: Observation): observation is Measured {
  return observation.kind in MEASURED;
}

function levelOf(observation: Logged): Level {
  switch (observation.kind) {
    case "request":
      return observation.status >= 500 ? "warn" : "info";
    case "failure":
      return "error";
    case "catalogue_failed":
    case "warning":
      return "warn";
    case "catalogue":
    case "audit_pruned":
    case "console_built":
    case "listening":
    case "stopping":
      return "info";
  }
}

function describe(observation: Logged): string {
  const { repeated } = observation as { readonly repeated?: number };
  return describeOnce(observation) + (repeated === undefined ? "" : `, ${repeated} times since`);
}

function describeOnce(observation: Logged): string {
  switch (observation.kind) {
    case "request": {
      const { method, status, durationMs, tenant, rows } = observation;
      const whose = tenant === undefined ? "" : ` tenant ${blankControls(tenant)}`;
      const count = rows === undefined ? "" : ` ${rows} rows`;
      return `${method} ${
        blankControls(observation.path)
      } ${status} ${durationMs} ms${whose}${count}`;
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
      return `${observation.rows} old rows of the audit deleted`;
    case "console_built":
      return `console built in ${observation.durationMs} ms`;
    case "listening":
      return `listening on ${observation.address}`;
    case "stopping":
      return `stopping on ${observation.signal}`;
  }
}
