import { nearest } from "../../basics/text/nearest.ts";
import type { Setting } from "./setting.ts";
import type { Config } from "./config_values.ts";
import { SETTINGS, TOKEN_VARIABLE } from "./settings.ts";

export type { Config };

/** Version of package.json; a test compares them. */
export const VERSION = "0.1.0";

/** Environment variables by name; one that is not set is missing or undefined. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** A configuration, or everything that is wrong with it, in words for the operator. */
export type ReadConfig =
  | { readonly config: Config; readonly problems?: undefined }
  | { readonly config?: undefined; readonly problems: readonly string[] };

const PREFIX = "ROWGATE_";
/**
 * The part of `poolWaitMs` that a transaction may take. Requests that wait for its connection give up
 * after `poolWaitMs`, so it must end sooner, with time left for the next one.
 */
const TRANSACTION_SHARE = 0.8;

/**
 * Reads the configuration from environment variables. All problems are reported at once; none of
 * them shows the value of `DATABASE_URL`.
 * @see R7
 */
export function readConfig(environment: Environment): ReadConfig {
  const problems: string[] = [];
  const values: Record<string, unknown> = {};
  for (const [name, { variable, default: preset, parse }] of Object.entries(SETTINGS)) {
    const text = environment[variable];
    const parsed = text === undefined ? { value: preset } : parseText(text, parse);
    if ("problem" in parsed) problems.push(`${variable}: ${parsed.problem}`);
    else values[name] = parsed.value;
  }
  problems.push(...findUnknown(environment));
  const config = values as unknown as Config;
  if (environment[SETTINGS.transactionTimeoutMs.variable] === undefined) {
    values["transactionTimeoutMs"] = Math.floor(config.poolWaitMs * TRANSACTION_SHARE);
  } else if (config.transactionTimeoutMs >= config.poolWaitMs) {
    problems.push(
      `${SETTINGS.transactionTimeoutMs.variable}: ${config.transactionTimeoutMs} is too long, ` +
        `expected less than ${SETTINGS.poolWaitMs.variable} (${config.poolWaitMs})`,
    );
  }
  if (config.poolIdleSize !== undefined && config.poolIdleSize > config.poolSize) {
    problems.push(
      `${SETTINGS.poolIdleSize.variable}: ${config.poolIdleSize} is too many, ` +
        `expected at most ${SETTINGS.poolSize.variable} (${config.poolSize})`,
    );
  }
  return problems.length > 0 ? { problems } : { config: Object.freeze(config) };
}

function parseText(text: string, parse: Setting["parse"]): ReturnType<Setting["parse"]> {
  return text.trim() === ""
    ? { problem: "is empty, give it a value or leave it out" }
    : parse(text);
}

/** Finds unknown variables with our prefix, which are most likely misspelt settings. */
function findUnknown(environment: Environment): readonly string[] {
  const known = Object.values(SETTINGS).map(({ variable }) => variable);
  return Object.keys(environment)
    .filter((name) => environment[name] !== undefined && name.startsWith(PREFIX))
    .filter((name) => name !== TOKEN_VARIABLE && !known.includes(name))
    .map((name) => {
      const meant = nearest(name, known);
      return `${name}: unknown variable${meant === undefined ? "" : `, did you mean ${meant}?`}`;
    });
}
