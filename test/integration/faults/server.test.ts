import { assert, assertEquals } from "@std/assert";
import { after, before, describe, it } from "@std/testing/bdd";
import { type Cluster, startCluster } from "../../support/cluster.ts";
import { makeTemplates } from "../../support/templates.ts";
import { createFaultyService, type FaultyService } from "./faulty_service.ts";
import { IS_REMOTE } from "../../support/service.ts";
import { waitUntil } from "../../support/wait_until.ts";
import {
  askOften,
  askWhile,
  awaitRecovery,
  isLimit,
  isUnavailable,
  listFailures,
  listStatuses,
  readDeals,
  writeTitle,
} from "./load.ts";

describe("a server that becomes unavailable", () => {
  let cluster: Cluster;
  let service: FaultyService;

  before(async () => {
    cluster = await startCluster({
      settings: { fsync: "on", synchronous_commit: "on", full_page_writes: "on" },
    });
    await makeTemplates(cluster.url);
    service = await createFaultyService({
      cluster: cluster.url,
      environment: { ROWGATE_STATEMENT_TIMEOUT_MS: "1000" },
    });
  });
  after(async () => {
    await service.close();
    await cluster.stop();
  });

  for (const [mode, ids] of [["fast", "[DB3]"], ["immediate", "[DB4]"]] as const) {
    it(`loses nothing that was acknowledged when it restarts under load (${mode}) ${ids} [DB21]`, async () => {
      await awaitRecovery(service);
      const kept = new Map<number, string>();
      const connections = service.proxy.connections();
      let acknowledged = 0;
      const { responses, mostPending } = await askWhile(
        async (index) => {
          if (index % 2 === 0) return await readDeals(service);
          const fid = 11 + index % 40;
          const response = await writeTitle(service, fid, `${mode} ${index}`);
          if (response.status === 200) kept.set(fid, `${mode} ${index}`);
          else kept.delete(fid);
          return response;
        },
        10,
        async (asked) => {
          await waitUntil(() => asked() > 70);
          acknowledged = kept.size;
          await cluster.restart(mode);
          await awaitRecovery(service);
          const since = asked();
          await waitUntil(() => asked() > since + 70);
        },
      );
      assert(acknowledged > 0, "nothing was written before");
      assertEquals(
        responses.filter((response) => response.status !== 200 && !isUnavailable(response)),
        [],
      );
      // Most are answered while it is away, by its end or at once.
      assert(mostPending < responses.length / 2, `${mostPending} of ${responses.length} waited`);
      const connects = service.proxy.connections() - connections;
      assert(connects < 80, `${connects} connections`);
      const rows = await service.database.admin`select fid::int4 as fid, title from deals`;
      const titles = new Map(rows.map((row) => [row.fid as number, row.title as string]));
      for (const [fid, title] of kept) assertEquals(titles.get(fid), title);
    });
  }

  it("is reported by /readyz at once, and /livez goes on, until it is back [DB1]", async () => {
    await awaitRecovery(service);
    await cluster.whileHalted("fast", async () => {
      await readDeals(service);
      const connections = service.proxy.connections();
      const ready = await service.send("GET", "/readyz");
      const alive = await service.send("GET", "/livez");
      const [read, written] = [await readDeals(service), await writeTitle(service, 7, "never")];
      assertEquals([ready.status, alive.status, read.status, written.status], [503, 200, 503, 503]);
      assert(isUnavailable(read) && isUnavailable(written));
      // Nothing was tried again and again meanwhile.
      assert(service.proxy.connections() - connections < 10);
    });
    await awaitRecovery(service);
    assertEquals((await service.send("GET", "/readyz")).status, 200);
  });

  it("is waited for no longer than the deadline while it is frozen [DB12]", async () => {
    await awaitRecovery(service);
    await cluster.whileFrozen(async () => {
      const observed = service.observations.length;
      const { responses } = await askOften(
        (index) => index % 2 === 0 ? readDeals(service) : writeTitle(service, 8, `frozen ${index}`),
        { everyMs: 100, times: 30 },
      );
      assertEquals(
        listStatuses(responses).filter((status) => status !== 503 && status !== 504),
        [],
      );
      // A place in the pool, or the deadline of the statement.
      const causes = listFailures(service, observed);
      assert(IS_REMOTE || causes.length > 0 && causes.every(isLimit), `${causes}`);
    });
    await awaitRecovery(service);
  });
});
