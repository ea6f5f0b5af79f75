import { closeSync, openSync } from "node:fs";
import { join } from "node:path";
import postgres from "postgres";
import { mintToken } from "../../src/access/tokens/token_text.ts";
import { COMMANDS } from "../../test/support/runtime_server.ts";
import type { Contender, Result } from "./contender.ts";
import { TENANTS } from "./dataset.ts";
import type { Runtime } from "./options.ts";
import { capture, findFreePort, launch, until } from "./processes.ts";
import type { Task } from "./work.ts";

/** The release of each runtime: the source for Deno, the bundle for the others. */
export const RELEASES: Readonly<Record<Runtime, readonly string[]>> = {
  deno: COMMANDS.deno,
  bun: [COMMANDS.bun[0]!, "dist/rowgate.js"],
  node: COMMANDS.node,
};

/** How Rowgate is started. */
export interface RowgateOptions {
  readonly databaseUrl: string;
  /** Folder of the log file. */
  readonly folder: string;
  readonly tokens: ReadonlyMap<number, string>;
  /** The command; the release when undefined. */
  readonly command?: readonly string[];
  /** Further settings. */
  readonly environment?: Readonly<Record<string, string>>;
}

/** From this many tokens on, the rest is written at once. */
const FEW_TOKENS = 20;

/** Creates a token for each tenant of the requests. */
export async function makeTokens(
  databaseUrl: string,
  tenants: readonly number[] = TENANTS,
): Promise<Map<number, string>> {
  const tokens = new Map<number, string>();
  for (const tenant of tenants.slice(0, FEW_TOKENS)) {
    const words = ["token", "create", "--tenant", String(tenant)];
    const text = await capture([...COMMANDS.deno, ...words], { DATABASE_URL: databaseUrl });
    tokens.set(tenant, text.trim());
  }
  const minted = tenants.slice(FEW_TOKENS).map((tenant) => ({ tenant, ...mintToken() }));
  for (const { tenant, token } of minted) tokens.set(tenant, token);
  const sql = postgres(databaseUrl, { max: 1 });
  await sql`insert into rowgate.tokens (id, digest, tenant, scopes)
    select n.id, decode(n.digest, 'hex'), n.tenant, '{query}'
    from json_to_recordset(${JSON.stringify(minted)}::text::json)
      n (id text, digest text, tenant text)`;
  await sql.end();
  return tokens;
}

/** Starts the whole service: token check, metrics, a log line for each request to a file, pool of 10. */
export async function startRowgate(
  runtime: Runtime,
  { databaseUrl, folder, tokens, command = RELEASES[runtime], ...options }: RowgateOptions,
): Promise<Contender> {
  const port = await findFreePort();
  const log = openSync(join(folder, `${runtime}.log`), "w");
  const environment = { DATABASE_URL: databaseUrl, PORT: String(port), ...options.environment };
  const child = launch([...command, "serve"], { stdout: log, environment });
  closeSync(log);
  const address = `http://127.0.0.1:${port}`;
  await until(async () => (await fetch(`${address}/readyz`)).ok, child);
  return {
    name: `rowgate ${runtime}`,
    kind: "rowgate",
    runtime,
    address,
    pid: child.pid,
    ask: askRowgate(tokens),
    read: readRowgate,
    stop: () => child.stop(),
  };
}

/** Gives the function that prints requests with these tokens of the tenants. */
export function askRowgate(tokens: ReadonlyMap<number, string>): Contender["ask"] {
  return (task) => ({
    method: task.kind === "query" ? "POST" : "PATCH",
    path: `/integration/tables/${task.table ?? "contacts"}/${ENDPOINTS[task.kind]}`,
    headers: {
      "Authorization": `Bearer ${tokens.get(task.tenant)}`,
      "Content-Type": "application/json",
      ...(task.prefer === undefined ? {} : { "Prefer": task.prefer }),
    },
    body: JSON.stringify(task.body),
  });
}

const ENDPOINTS: Readonly<Record<Task["kind"], string>> = {
  query: "query",
  single: "records/single",
  bulk: "records/bulk",
};

/** Reads a response of Rowgate. */
export async function readRowgate(response: Response): Promise<Result> {
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${response.status} ${text}`);
  const body = JSON.parse(text) as {
    total?: number | null;
    updated?: number;
    records?: unknown[];
  };
  const { total = body.updated ?? null, records = [] } = body;
  return { total, records };
}
