// What one tenant does, and what another notices of it: no error, and no wait for what the first one waits for.
import { assert, assertEquals } from "@std/assert";
import { afterAll, beforeAll, describe, it } from "@std/testing/bdd";
import { readMetrics } from "../../support/read_metrics.ts";
import { createTestService, type TestService } from "../../support/service.ts";
import { waitUntil } from "../../support/wait_until.ts";

const POOL_SIZE = 10;
/** A fifth of the places. */
const FEW = 2;
/** What the second tenant asks, one request after the other. */
const REQUESTS = 40;
const UPDATE_PATH = "/integration/tables/visits/records/single";
const RETRIES = /^rowgate_database_retries_total/;

describe("A tenant whose neighbour does its worst", () => {
  let service: TestService;

  beforeAll(async () => {
    service = await createTestService("real", {
      environment: {
        ROWGATE_POOL_SIZE: String(POOL_SIZE),
        ROWGATE_POOL_WAIT_MS: "20000",
        ROWGATE_LOCK_TIMEOUT_MS: "20000",
      },
    });
    await service.database.admin.unsafe(`
      create table visits (tenant_id int4, id int4, page text not null, note text not null, hits int4 not null,
        primary key (tenant_id, id));
      insert into visits select 1, n, repeat('lorem ipsum dolor ', 8) || n, '', 0 from generate_series(1, 20000) n;
      insert into visits select 2, n, 'page ' || n, '', 0 from generate_series(1, 200) n;
      analyze visits;
      create table reports (tenant_id int4, id int4, primary key (tenant_id, id));
      create table lots (tenant_id int4, id int4, hits int4 not null, primary key (tenant_id, id));
      insert into lots values (1, 1, 0), (2, 1, 0);
      grant select on visits, reports, lots to rowgate_app;
      grant update (hits) on visits, lots to rowgate_app;
      notify rowgate_catalogue`);
    await waitUntil(async () => (await query(service.tokens.b, { per_page: 1 })).status === 200);
  });
  afterAll(() => service.close());

  function query(token: string, body: object) {
    return service.send("POST", "/integration/tables/visits/query", { token, body });
  }

  let hits = 0;
  const bodyOf = (id: number) => ({ filters: { id }, fields: { hits: ++hits } });

  function update(token: string, id: number) {
    return service.send("PATCH", UPDATE_PATH, { token, body: bodyOf(id) });
  }

  /** Sends an update and disconnects after a while. */
  async function updateAndHangUp(token: string, id: number): Promise<void> {
    const response = await service.app(
      new Request(`http://127.0.0.1${UPDATE_PATH}`, {
        method: "PATCH",
        headers: { "authorization": `Bearer ${token}`, "content-type": "application/json" },
        body: JSON.stringify(bodyOf(id)),
        signal: AbortSignal.timeout(150),
      }),
    );
    await response.body?.cancel();
  }

  const byId = [{ field: "id", direction: "asc" }];
  const equals = (id: number) => ({ and: [{ field: "id", op: "eq", value: id }] });

  /** Sends a look-up, a page and an update of tenant 2 in turn, until something holds; each must succeed. */
  async function serveUntil(isOver: () => boolean): Promise<number> {
    let served = 0;
    for (; served < REQUESTS || !isOver(); served++) {
      const id = 1 + served % 200;
      const responses = [
        await query(service.tokens.b, { filters: equals(id) }),
        await query(service.tokens.b, { sort: byId, per_page: 20 }),
        await update(service.tokens.b, id),
      ];
      assertEquals(responses.map(({ status }) => status), [200, 200, 200]);
      assertEquals(responses[0]!.body["total"], 1);
    }
    return served;
  }

  /** Updates, among others, that were taken out of a batch and run alone. */
  async function countRetries(): Promise<number> {
    const { text } = await service.send("GET", "/metrics", { token: null });
    return [...readMetrics(text).samples].filter(([name]) => RETRIES.test(name))
      .reduce((sum, [, count]) => sum + count, 0);
  }

  /** Counts the statements of the service that match a pattern and run now; not those it only prepares. */
  async function countRunning(pattern: string): Promise<number> {
    const [row] = await service.database.admin<[{ count: number }]>`
      select count(*)::int4 from pg_stat_activity
      where datname = current_database() and usename = 'rowgate_app' and state = 'active'
        and query_start < clock_timestamp() - interval '50 ms' and query like ${pattern}`;
    return row.count;
  }

  it("is served, while long statements of the other tenant take at most a fifth of the connections [RE33]", async () => {
    const or = Array.from({ length: 50 }, (_, n) => (
      { field: "page", op: "like", value: `%${n}%no%such%page%` }
    ));
    let running = 8;
    const heavy = Promise.all(Array.from({ length: running }, async () => {
      const response = await query(service.tokens.a, { filters: { or }, sort: byId });
      running--;
      return response.status;
    }));
    const seen: number[] = [];
    const watching = (async () => {
      while (running > 0) {
        seen.push(await countRunning(`%"page"%~~%`));
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    })();
    await serveUntil(() => running === 0);
    assertEquals(new Set(await heavy), new Set([200]));
    await watching;
    const most = Math.max(...seen);
    assert(most >= 1 && most <= FEW, `${most} at once`);
  });

  it("is served while the other tenant runs as many slow statements as it may [RE33]", async () => {
    const seen: number[] = [];
    const watch = async () => {
      const running = await countRunning(`%"reports"%`);
      seen.push(running);
      return running;
    };
    let waiting: Promise<{ readonly status: number }>[] = [];
    await service.database.admin.begin(async (other) => {
      await other`lock table reports in access exclusive mode`;
      waiting = Array.from(
        { length: 8 },
        () =>
          service.send("POST", "/integration/tables/reports/query", {
            token: service.tokens.a,
            body: { filters: { and: [] }, sort: byId },
          }),
      );
      await waitUntil(async () => await watch() === FEW);
      for (let times = 0; times < 5; times++) {
        await serveUntil(() => true);
        await watch();
      }
    });
    assertEquals(Math.max(...seen), FEW);
    assertEquals((await Promise.all(waiting)).map(({ status }) => status), Array(8).fill(200));
  });

  it("does not wait for rows that the other tenant waits for, even where updates are batched [RE33]", async () => {
    await service.database.admin.begin(async (other) => {
      await other`update visits set note = 'held' where tenant_id = 1 and id = 7`;
      let ended = 0;
      const waiting = Array.from(
        { length: 30 },
        () => update(service.tokens.a, 7).finally(() => ended++),
      );
      // Together, so that they are batched with each other and with those of tenant 1.
      for (let round = 0; round < 10; round++) {
        const ids = Array.from({ length: 8 }, (_, n) => 1 + round * 8 + n);
        waiting.push(update(service.tokens.a, 7).finally(() => ended++));
        const updates = await Promise.all(ids.map((id) => update(service.tokens.b, id)));
        assertEquals(updates.map(({ status }) => status), ids.map(() => 200));
      }
      await serveUntil(() => true);
      assertEquals(ended, 0, "the row is still held");
      void Promise.allSettled(waiting);
    });
  });

  it("waits for at most one update of the other tenant, even if that tenant's were batched first [RE33]", async () => {
    const updateLot = (token: string) =>
      service.send("PATCH", UPDATE_PATH.replace("visits", "lots"), { token, body: bodyOf(1) });
    await service.database.admin.begin(async (other) => {
      await other`update lots set hits = 0 where tenant_id = 1 and id = 1`;
      const before = await countRetries();
      // The first runs alone, the others of this tick leave together: seven of tenant 1 wait for the row.
      const waiting = Array.from({ length: 8 }, () => updateLot(service.tokens.a));
      const { status } = await updateLot(service.tokens.b);
      const retried = await countRetries() - before;
      assertEquals(status, 200);
      assert(retried <= 1, `${retried} of tenant 1 were taken out of the batch before it`);
      void Promise.allSettled(waiting);
    });
  });

  it("is served while clients of the other tenant disconnect [RE33]", async () => {
    await service.database.admin.begin(async (other) => {
      await other`update visits set note = 'held' where tenant_id = 1 and id = 8`;
      let over = false;
      const attacking = Promise.all(Array.from({ length: 24 }, async () => {
        while (!over) {
          await updateAndHangUp(service.tokens.a, 8).catch(() => {});
        }
      }));
      let served = 0;
      await serveUntil(() => ++served > 0);
      over = true;
      await attacking;
    });
    await waitUntil(async () => await countRunning("%") === 0);
  });
});
