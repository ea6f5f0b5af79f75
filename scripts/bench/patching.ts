import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { COMMANDS } from "../../test/support/runtime_server.ts";
import { capture } from "./processes.ts";
import { startRowgate } from "./rowgate.ts";

/** Starts a server on Deno, and a client of a tenant that updates its orders by key. */
export async function startPatching(url: string, tenant: string) {
  const folder = await mkdtemp(join(tmpdir(), "rowgate-bench-run-"));
  const words = ["token", "create", "--tenant", tenant];
  const token = (await capture([...COMMANDS.deno, ...words], { DATABASE_URL: url })).trim();
  const server = await startRowgate("deno", { databaseUrl: url, folder, tokens: new Map() });
  return {
    patch: async (id: number, n: number): Promise<void> => {
      const response = await fetch(`${server.address}/integration/tables/orders/records/single`, {
        method: "PATCH",
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
        body: JSON.stringify({ filters: { id }, fields: { n } }),
      });
      const text = await response.text();
      if (!response.ok) throw new Error(text);
    },
    stop: async (): Promise<void> => {
      await server.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
