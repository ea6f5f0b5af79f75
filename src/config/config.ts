import { nearest } from "../text/nearest.ts";
import { SETTINGS, TOKEN_VARIABLE } from "./settings.ts";

/** So many requests in a window. */
export interface RateLimit {
  readonly requests: number;
  readonly windowSeconds: number;
}

/**
 * Everything an operator can set, checked, with defaults put in.
 * @see docs/specification/running.md
 */
export interface Config {
  readonly host: string;
  readonly port: number;
  /** Undefined: the embedded Postgres in `dataDir`. */
  readonly databaseUrl: string | undefined;
  readonly dataDir: string;
  readonly schema: string;
  readonly tenantColumn: string;
  /** Path of the policy file. */
  readonly policyFile: string | undefined;
  readonly poolSize: number;
  readonly poolWaitMs: number;
  /** Sessions for transactions, beside the pool. */
  readonly transactions: number;
  /** From begin to commit; less than others wait for a session. */
  readonly transactionTimeoutMs: number;
  readonly statementTimeoutMs: number;
  readonly lockTimeoutMs: number;
  readonly requestTimeoutMs: number;
  readonly maxBodyBytes: number;
  /** Of all bodies at once. */
  readonly maxBodiesBytes: number;
  /** Of all long answers that clients have not read yet. */
  readonly maxUnsentBytes: number;
  /** A client that takes nothing of a long answer for so long is cut off. */
  readonly sendTimeoutMs: number;
  readonly maxInFlight: number;
  /** Bytes of a page of records. */
  readonly maxPageBytes: number;
  /** Characters of all patterns of a query together. */
  readonly maxPatternCharacters: number;
  /** Of each token; undefined: no limit. */
  readonly rateLimit: RateLimit | undefined;
  /** False behind a transaction pooler. */
  readonly prepare: boolean;
  /** Name of the setting that carries the tenant into each statement. */
  readonly tenantSetting: string | undefined;
  /** Each update leaves a row in `rowgate.audit`. */
  readonly audit: boolean;
  /** Days after which such a row is deleted; undefined: never. */
  readonly auditDays: number | undefined;
  readonly corsOrigins: readonly string[];
  /** Whether `/` is the console. */
  readonly console: boolean;
  readonly logLevel: "debug" | "info" | "warn" | "error" | "silent";
  /** Processes that serve; `auto` is one for each processor. */
  readonly workers: number | "auto";
  readonly shutdownMs: number;
}

/** Names of variables and what they hold; what is not set is missing or undefined. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** A configuration, or all that is wrong with it in a person's words. */
export type ReadConfig =
  | { readonly config: Config; readonly problems?: undefined }
  | { readonly config?: undefined; readonly problems: readonly string[] };

/** What a transaction may take of the time that others wait for its session. */
const TRANSACTION_PART = 0.8;
const PREFIX = "ROWGATE_";

/**
 * Reads the configuration from environment variables and puts in the defaults; tells every problem
 * at once, and never the value of `DATABASE_URL`.
 * @see R7
 */
export function readConfig(environment: Environment): ReadConfig {
  const problems: string[] = [];
  const known: Record<string, unknown> = {};
  for (const [name, setting] of Object.entries(SETTINGS)) {
    const text = environment[name];
    if (text === undefined) {
      known[setting.member] = setting.default;
      continue;
    }
    const parsed = text.trim() === ""
      ? { problem: "is empty, give it a value or leave it out" }
      : setting.parse(text);
    if ("problem" in parsed) problems.push(`${name}: ${parsed.problem}`);
    else known[setting.member] = parsed.value;
  }
  for (const [name, text] of Object.entries(environment)) {
    if (text === undefined || !name.startsWith(PREFIX) || Object.hasOwn(SETTINGS, name)) continue;
    if (name === TOKEN_VARIABLE) continue;
    const meant = nearest(name, Object.keys(SETTINGS));
    problems.push(`${name}: is not known${meant === undefined ? "" : `, did you mean ${meant}`}`);
  }
  const { poolWaitMs, transactionTimeoutMs } = known as unknown as Partial<Config>;
  if (problems.length === 0 && transactionTimeoutMs === undefined) {
    known["transactionTimeoutMs"] = Math.floor(poolWaitMs! * TRANSACTION_PART);
  } else if (transactionTimeoutMs! >= poolWaitMs!) {
    problems.push(
      `ROWGATE_TRANSACTION_TIMEOUT_MS: ${transactionTimeoutMs} is as long as others wait, ` +
        `expected less than ROWGATE_POOL_WAIT_MS (${poolWaitMs})`,
    );
  }
  if (problems.length > 0) return { problems };
  return { config: Object.freeze(known) as unknown as Config };
}
