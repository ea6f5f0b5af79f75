import type { Ask, Contender } from "./contender.ts";
import { findFreePort, launch, until } from "./processes.ts";

/** What all peers on Node have in common. */
type Peer = Pick<Contender, "kind" | "address" | "pid" | "stop">;

/** Starts a peer on Node with a port and a database, and waits until it answers a request. */
export async function startPeer(file: string, databaseUrl: string, first: Ask): Promise<Peer> {
  const port = await findFreePort();
  const environment = { PORT: String(port), DATABASE_URL: databaseUrl, NODE_ENV: "production" };
  const child = launch(["node", `scripts/bench/packages/${file}`], { environment });
  const address = `http://127.0.0.1:${port}`;
  const { path, ...rest } = first;
  const request = { ...rest, body: first.body || null };
  await until(async () => (await fetch(`${address}${path}`, request)).ok, child);
  return { kind: "peer", address, pid: child.pid, stop: () => child.stop() };
}

/** Reads a value of a row: these peers return 64-bit numbers as strings. */
export function readValue(column: string, value: unknown): unknown {
  return column === "id" || column === "tenant_id" ? Number(value) : value;
}
