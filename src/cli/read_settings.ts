import { EMPTY_POLICY, parsePolicy, type Policy } from "../catalogue/policy.ts";
import { type Config, readConfig } from "../server/config/config.ts";
import { DEMONSTRATION_POLICY } from "./demonstration/schema.ts";
import { planConnection, planStandbys } from "../database/postgres/connection.ts";
import type { Host } from "../server/runtime/host.ts";
import { stop, WRONG_USAGE } from "./stop.ts";

/** What the operator has set, in environment variables and the policy file. */
export interface Settings {
  readonly config: Config;
  readonly policy: Policy;
}

/** Where settings are read from. */
export type SettingsSource = Pick<Host, "environment" | "readFile">;

/**
 * Reads the environment variables and the policy file.
 * @throws {Stop} with all problems at once and exit code 2
 * @see R7
 */
export async function readSettings(source: SettingsSource): Promise<Settings> {
  const { config, problems = [] } = readConfig(source.environment);
  // Both are checked even when a variable is wrong, so that all problems are reported at once.
  const { DATABASE_URL, ROWGATE_POLICY } = source.environment;
  const policy = await readPolicy(source, { file: ROWGATE_POLICY, embedded: !DATABASE_URL });
  const found = [
    ...problems,
    ...problems.some((problem) => problem.startsWith("DATABASE_URL:"))
      ? []
      : checkUrl("DATABASE_URL", DATABASE_URL, planConnection),
    ...checkReadUrl(config),
    ...config === undefined ? [] : checkWorkers(config),
    ...policy.problems ?? [],
  ];
  if (config !== undefined && policy.policy !== undefined && found.length === 0) {
    return { config, policy: policy.policy };
  }
  const count = found.length === 1 ? "a problem" : `${found.length} problems`;
  throw stop(
    WRONG_USAGE,
    `rowgate: the configuration has ${count}:`,
    ...found.map((problem) => `  ${problem}`),
  );
}

function checkUrl(
  variable: string,
  url: string | undefined,
  plan: (url: string) => unknown,
): readonly string[] {
  if (url === undefined) return [];
  try {
    plan(url);
    return [];
  } catch (error) {
    return [error instanceof Error ? error.message : `${variable}: cannot be read`];
  }
}

function checkReadUrl(config: Config | undefined): readonly string[] {
  if (config?.readUrl === undefined) return [];
  if (config.databaseUrl === undefined) {
    return ["DATABASE_READ_URL: the embedded Postgres has no standby; set DATABASE_URL as well"];
  }
  return checkUrl("DATABASE_READ_URL", config.readUrl, planStandbys);
}

function checkWorkers({ workers, databaseUrl }: Config): readonly string[] {
  if (databaseUrl !== undefined || workers === "auto" || workers === 1) return [];
  return [
    "ROWGATE_WORKERS: the embedded Postgres serves one process only; set DATABASE_URL as well, " +
    "or leave it out",
  ];
}

type ReadPolicy =
  | { readonly policy: Policy; readonly problems?: undefined }
  | { readonly policy?: undefined; readonly problems: readonly string[] };

async function readPolicy(
  { readFile }: SettingsSource,
  { file, embedded }: { readonly file: string | undefined; readonly embedded: boolean },
): Promise<ReadPolicy> {
  if (file === undefined || file.trim() === "") {
    if (!embedded) return { policy: EMPTY_POLICY };
    return parsePolicy(JSON.stringify(DEMONSTRATION_POLICY));
  }
  let text: string;
  try {
    text = await readFile(file);
  } catch {
    return { problems: [`ROWGATE_POLICY: the file ${JSON.stringify(file)} cannot be read`] };
  }
  const parsed = parsePolicy(text);
  if ("policy" in parsed) return parsed;
  return { problems: parsed.problems.map((problem) => `ROWGATE_POLICY: ${problem}`) };
}
