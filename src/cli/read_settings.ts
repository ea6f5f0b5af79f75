import { EMPTY_POLICY, parsePolicy, type Policy } from "../catalogue/policy.ts";
import { type Config, readConfig } from "../config/config.ts";
import { planConnection } from "../postgres/connection.ts";
import { DEMONSTRATION_POLICY } from "../demonstration/schema.ts";
import type { Host } from "../runtime/host.ts";
import { stop, WRONG_USAGE } from "./stop.ts";

/** What the operator has set: variables and policy file. */
export interface Settings {
  readonly config: Config;
  readonly policy: Policy;
}

/** Where settings stand. */
export type SettingsSource = Pick<Host, "environment" | "readFile">;

/**
 * Reads the variables, the database's URL and the policy file.
 * @throws {Stop} with every problem at once; 2 is the exit code
 * @see R7
 */
export async function readSettings(host: SettingsSource): Promise<Settings> {
  const { config, problems = [] } = readConfig(host.environment);
  const found = [...problems];
  // Looked at even when a variable is wrong, so that all is told in one go.
  const { DATABASE_URL, ROWGATE_POLICY } = host.environment;
  if (!found.some((problem) => problem.startsWith("DATABASE_URL:"))) {
    found.push(...checkUrl(DATABASE_URL));
  }
  if (config !== undefined && config.databaseUrl === undefined && Number(config.workers) > 1) {
    found.push(
      "ROWGATE_WORKERS: the embedded Postgres serves one process, " +
        "set DATABASE_URL or leave it out",
    );
  }
  const policy = await readPolicy(host, { file: ROWGATE_POLICY, embedded: !DATABASE_URL });
  if ("problems" in policy) found.push(...policy.problems);
  if (config === undefined || "problems" in policy || found.length > 0) {
    const many = found.length > 1 ? `${found.length} problems` : "a problem";
    throw stop(
      WRONG_USAGE,
      `rowgate: the configuration has ${many}:`,
      ...found.map((problem) => `  ${problem}`),
    );
  }
  return { config, policy: policy.policy };
}

function checkUrl(url: string | undefined): readonly string[] {
  if (url === undefined) return [];
  try {
    planConnection(url);
    return [];
  } catch (error) {
    return [error instanceof Error ? error.message : "DATABASE_URL: can not be read"];
  }
}

async function readPolicy(
  host: SettingsSource,
  { file, embedded }: { readonly file: string | undefined; readonly embedded: boolean },
): Promise<{ readonly policy: Policy } | { readonly problems: readonly string[] }> {
  if (file === undefined || file.trim() === "") {
    return embedded ? parsePolicy(JSON.stringify(DEMONSTRATION_POLICY)) : { policy: EMPTY_POLICY };
  }
  let text: string;
  try {
    text = await host.readFile(file);
  } catch {
    return { problems: [`ROWGATE_POLICY: the file ${JSON.stringify(file)} can not be read`] };
  }
  const parsed = parsePolicy(text);
  if ("problems" in parsed && parsed.problems !== undefined) {
    return { problems: parsed.problems.map((problem) => `ROWGATE_POLICY: ${problem}`) };
  }
  return parsed;
}
