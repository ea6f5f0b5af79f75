import { assert, assertEquals } from "@std/assert";
import { after, before, describe, it } from "@std/testing/bdd";
import postgres from "postgres";
import { type Cluster, startCluster } from "../../support/cluster.ts";
import { createTestService, type TestService } from "../../support/service.ts";
import { awaitReplay, startStandby } from "../../support/standby.ts";
import { makeTemplates } from "../../support/templates.ts";
import { waitUntil } from "../../support/wait_until.ts";
import { read, write } from "./replicated_service.ts";

const MAX_LAG_SECONDS = 1;

describe("the metrics of two standbys", () => {
  let primary: Cluster;
  let first: Cluster;
  let second: Cluster;
  let service: TestService;
  /** It never writes, so that its queries go to a standby. */
  let reader: string;

  before(async () => {
    primary = await startCluster();
    await makeTemplates(primary.url);
    first = await startStandby(primary);
    second = await startStandby(primary);
    const environment: Record<string, string> = {
      ROWGATE_REPLICA_MAX_LAG_MS: String(1000 * MAX_LAG_SECONDS),
    };
    service = await createTestService("real", {
      cluster: primary.url,
      environment,
      route: (url) => {
        const hosts = `${hostOf(first)},${hostOf(second)}`;
        const { host } = new URL(url);
        environment["DATABASE_READ_URL"] = url.replace(host, hosts);
        return Promise.resolve(url.replace(host, `${host},${hostOf(first)}`));
      },
    });
    reader = await service.issue({ name: "reader" });
    await Promise.all([first, second].map((standby) => awaitReplay(primary, standby)));
    await awaitUsable(1, 1);
  });
  after(async () => {
    await service?.close();
    for (const cluster of [first, second, primary]) await cluster?.stop();
  });

  /** Each metric of each standby, in the order of their hosts, and the queries of both kinds of server. */
  async function readStandbys() {
    const { text } = await service.send("GET", "/metrics");
    const valueOf = (sample: string) => {
      const line = text.split("\n").find((line) => line.startsWith(`rowgate_${sample} `));
      return Number(line?.split(" ")[1]?.replace("+Inf", "Infinity"));
    };
    const ofEach = (name: string) =>
      [first, second].map((standby) => valueOf(`${name}{standby="${hostOf(standby)}"}`));
    return {
      lag: ofEach("standby_lag_seconds"),
      usable: ofEach("standby_usable"),
      reads: (["primary", "standby"] as const).map((server) =>
        valueOf(`reads_total{server="${server}"}`) || 0
      ),
      lines: text.split("\n").filter((line) => /^rowgate_standby_\w+\{/.test(line)).length,
    };
  }

  async function awaitUsable(...expected: readonly number[]): Promise<void> {
    await waitUntil(async () => String((await readStandbys()).usable) === String(expected));
  }

  /** Queries four times, and gives how many ran on the primary and on standbys. */
  async function countReads(): Promise<readonly number[]> {
    const { reads: before } = await readStandbys();
    for (let query = 0; query < 4; query++) {
      assertEquals((await read(service, { fid: 1, token: reader })).status, 200);
    }
    const { reads } = await readStandbys();
    return reads.map((count, server) => count - before[server]!);
  }

  it("name each standby by its host and port, and show that both are used [M30]", async () => {
    const { lag, usable, lines } = await readStandbys();
    assertEquals([usable, lines], [[1, 1], 4]);
    for (const seconds of lag) assert(seconds >= 0 && seconds <= MAX_LAG_SECONDS, `${lag}`);
    assertEquals(await countReads(), [0, 4]);
  });

  it("show the lag of a standby that is behind, and that it is not used [M30] [M13]", async () => {
    try {
      await tell(second, "select pg_wal_replay_pause()");
      await waitUntil(async () => {
        assertEquals((await write(service, { fid: 6, title: crypto.randomUUID() })).status, 200);
        return (await readStandbys()).lag[1]! > MAX_LAG_SECONDS;
      });
      await awaitUsable(1, 0);
      const { lag } = await readStandbys();
      assert(lag[0]! <= MAX_LAG_SECONDS && lag[1]! > MAX_LAG_SECONDS, `${lag}`);
      assertEquals(await countReads(), [0, 4]);
    } finally {
      await tell(second, "select pg_wal_replay_resume()");
    }
    await awaitUsable(1, 1);
    assert((await readStandbys()).lag[1]! <= MAX_LAG_SECONDS);
  });

  it("show the lag of a stopped standby as unknown, and still report the other [M30]", async () => {
    await first.whileHalted("immediate", async () => {
      await awaitUsable(0, 1);
      const { lag } = await readStandbys();
      assertEquals(lag[0], Infinity);
      assert(lag[1]! <= MAX_LAG_SECONDS, `${lag}`);
      assertEquals(await countReads(), [0, 4]);
    });
    await awaitUsable(1, 1);
  });

  it("show when the primary answers all queries, and when a standby is back [M30] [M13]", async () => {
    await second.whileHalted("immediate", async () => {
      await first.whileHalted("immediate", async () => {
        await awaitUsable(0, 0);
        assertEquals((await readStandbys()).lag, [Infinity, Infinity]);
        assertEquals(await countReads(), [4, 0]);
      });
      await awaitUsable(1, 0);
      assert((await readStandbys()).lag[0]! <= MAX_LAG_SECONDS);
      assertEquals(await countReads(), [0, 4]);
    });
    await awaitUsable(1, 1);
  });

  it("show that a standby of an old primary is not used, even though it responds [M30] [M13]", async () => {
    const rename = async (title: string) => (await write(service, { fid: 6, title })).status;
    await primary.whileHalted("immediate", async () => {
      await tell(first, "select pg_promote(true)");
      await waitUntil(async () => await rename("on the new primary") === 200);
    });
    // It is not fenced, and the other standby goes on to follow it. It has written more than the new one.
    await tell(primary, "select pg_logical_emit_message(false, 'rowgate', repeat('x', 9000000))");
    await awaitReplay(primary, second);
    assertEquals(await rename("newer"), 200);
    // Standbys are examined twice a second, so at first the metrics are older than the promotion.
    await waitUntil(async () => {
      const { lag, usable } = await readStandbys();
      return lag[1] === 0 && usable.every((each) => each === 0);
    });
    assertEquals(await countReads(), [4, 0]);
    assertEquals((await readStandbys()).usable, [0, 0]);
    assertEquals((await read(service, { fid: 6, token: reader })).title, "newer");
  });
});

function hostOf(cluster: Cluster): string {
  return new URL(cluster.url).host;
}

async function tell(cluster: Cluster, statement: string): Promise<void> {
  const sql = postgres(`${cluster.url}/postgres`, { max: 1, onnotice: () => {} });
  await sql.unsafe(statement);
  await sql.end();
}
