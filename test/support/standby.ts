import postgres from "postgres";
import { type Cluster, copyData, startCluster } from "./cluster.ts";
import { waitUntil } from "./wait_until.ts";

/**
 * Starts a standby that streams from a cluster and serves reads; the cluster is stopped for the copy
 * of its data, which needs no program that is not everywhere.
 */
export async function startStandby(
  primary: Cluster,
  settings: Readonly<Record<string, string>> = {},
): Promise<Cluster> {
  const { port, password } = new URL(primary.url);
  return await startCluster({
    password,
    fill: (data) => primary.whileHalted("fast", () => copyData(primary.data, data)),
    files: { "standby.signal": "" },
    settings: {
      primary_conninfo: `host=127.0.0.1 port=${port} user=postgres password=${password}`,
      wal_retrieve_retry_interval: "100ms",
      ...settings,
    },
  });
}

/** Waits until the standby has all that the primary has written by now. */
export async function awaitReplay(primary: Cluster, standby: Cluster): Promise<void> {
  const [from, to] = [primary, standby].map(({ url }) => postgres(`${url}/postgres`, { max: 1 }));
  // The commits before are not flushed yet where they don't wait for it; with one that does, they are.
  await from!.begin(async (sql) => {
    await sql`set local synchronous_commit = local`;
    await sql`select pg_logical_emit_message(true, 'rowgate', 'flush')`;
  });
  const [{ lsn }] = await from!<[{ lsn: string }]>`select pg_current_wal_flush_lsn()::text as lsn`;
  await waitUntil(async () => {
    const [row] = await to!`select pg_last_wal_replay_lsn() >= ${lsn}::text::pg_lsn as there`;
    return row!.there === true;
  });
  await Promise.all([from!.end(), to!.end()]);
}
