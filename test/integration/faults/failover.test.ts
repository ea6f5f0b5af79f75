import { assert, assertEquals } from "@std/assert";
import { after, before, describe, it } from "@std/testing/bdd";
import postgres from "postgres";
import { type Cluster, startCluster } from "../../support/cluster.ts";
import { type FaultProxy, startFaultProxy } from "../../support/fault_proxy.ts";
import { createTestService, IS_REMOTE, type TestService } from "../../support/service.ts";
import { awaitReplay, startStandby } from "../../support/standby.ts";
import { makeTemplates } from "../../support/templates.ts";
import { waitUntil } from "../../support/wait_until.ts";
import { askWhile, listStatuses, readDeals, sleep, writeTitle } from "./load.ts";

/** Takes a second, so that something can come in between. */
const SLOW_VIEW = `
  create view slow_deals as select fid, tenant_id, title, slept
    from deals, lateral (select pg_sleep(1)::text as slept offset 0) as pause where fid = 1;
  grant select on slow_deals to rowgate_app`;

/** So many updates, one each 20 ms, may fail before a primary is found again. */
const MOST_FAILURES = 100;

describe("a primary with a standby", () => {
  let primary: Cluster;
  let standby: Cluster;
  let proxy: FaultProxy;
  /** A service that is given both servers, and one that knows the standby alone. */
  let both: TestService;
  let single: TestService;

  before(async () => {
    primary = await startCluster();
    await makeTemplates(primary.url);
    standby = await startStandby(primary, { max_standby_streaming_delay: "0" });
    both = await createTestService("real", {
      cluster: primary.url,
      route: (url) => {
        const { username, password, pathname } = new URL(url);
        const hosts = [primary, standby].map((cluster) => new URL(cluster.url).host).join(",");
        const role = "target_session_attrs=read-write";
        return Promise.resolve(`postgres://${username}:${password}@${hosts}${pathname}?${role}`);
      },
    });
    single = await createTestService("real", {
      cluster: primary.url,
      policy: { tables: { slow_deals: { expose: true, primary_key: ["fid"] }, deals: {} } },
      route: async (url) => {
        await awaitReplay(primary, standby);
        proxy = await startFaultProxy(standby.url);
        return proxy.through(url);
      },
    });
    await single.database.admin.unsafe(SLOW_VIEW);
    await awaitReplay(primary, standby);
  });
  after(async () => {
    await single?.close();
    await both?.close();
    await proxy?.stop();
    await standby?.stop();
    await primary?.stop();
  });

  it("serves queries and rejects writes if only the standby is known [DB19]", async () => {
    const read = await readDeals(single);
    assertEquals(read.status, 200, read.text);
    const written = await writeTitle(single, 6, "never");
    assertEquals([written.status, written.headers.get("retry-after")], [503, "1"]);
    assert(String(written.body.error).includes("nothing was changed"));
    assertEquals((await readDeals(single)).status, 200);
  });

  it("is not connected to again and again because it rejects writes [DB30]", async () => {
    await readDeals(single);
    const connections = proxy.connections();
    for (let round = 0; round < 10; round++) {
      assertEquals((await writeTitle(single, 6, "never")).status, 503);
      await sleep(100);
    }
    // One a second: ten requests take longer than that on a busy machine.
    assert(proxy.connections() - connections <= 4, `${proxy.connections() - connections} for 10`);
  });

  it("is not connected to again and again because a standby sends no notifications", async () => {
    await readDeals(single);
    await sleep(1000);
    const connections = proxy.connections();
    await sleep(2000);
    assert(proxy.connections() - connections <= 1, `${proxy.connections() - connections} in 2 s`);
  });

  it("repeats a query that the standby cancels because of the primary [DB20]", async () => {
    const observed = single.observations.length;
    const reading = single.send("POST", "/integration/tables/slow_deals/query", {
      body: { select: ["fid", "title"] },
    });
    const there = postgres(`${standby.url}/postgres`, { max: 1 });
    try {
      await waitUntil(async () => {
        const rows = await there`select from pg_stat_activity where wait_event = 'PgSleep'`;
        return rows.length > 0;
      });
      // The rows that the standby still reads are taken away.
      const { admin } = single.database;
      await admin`update deals set title = title where fid < 40`;
      await admin.unsafe("vacuum deals");
      const response = await reading;
      assertEquals([response.status, response.body.success], [200, true], response.text);
      const retries = single.observations.slice(observed).filter(({ kind }) => kind === "retry");
      assertEquals(retries, IS_REMOTE ? [] : [{ kind: "retry", fault: "serialization" }]);
      // A session reports to the statistics once a second at most.
      await waitUntil(async () => {
        const [row] =
          await there`select sum(confl_snapshot)::int4 as n from pg_stat_database_conflicts`;
        return row!.n > 0;
      });
    } finally {
      await there.end();
    }
  });

  it("accepts writes again soon after the standby is promoted under load [DB19]", async () => {
    assertEquals((await writeTitle(both, 6, "before")).status, 200);
    await awaitReplay(primary, standby);
    const { responses } = await askWhile(
      (index) => index % 2 === 0 ? readDeals(both) : writeTitle(both, 11 + index % 40, `${index}`),
      20,
      async (asked) => {
        await waitUntil(() => asked() > 50);
        await primary.whileHalted("immediate", async () => {
          const since = asked();
          await waitUntil(() => asked() > since + 50);
          const there = postgres(`${standby.url}/postgres`, { max: 1 });
          await there`select pg_promote(true)`;
          await there.end();
          await awaitWritten(both);
        });
      },
    );
    assertEquals(listStatuses(responses), [200, 503]);
    // The one that knew it as a standby alone finds it a primary.
    assertEquals((await readDeals(single)).status, 200);
    await awaitWritten(single);
  });

  /** Waits until an update succeeds; few fail before. */
  async function awaitWritten(service: TestService): Promise<void> {
    let failures = 0;
    await waitUntil(async () => {
      if ((await writeTitle(service, 6, "after")).status === 200) return true;
      assert(++failures <= MOST_FAILURES, "the primary is not found");
      return false;
    });
  }
});
