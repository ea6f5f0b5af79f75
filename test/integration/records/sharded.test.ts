import { assertEquals } from "@std/assert";
import { after, before, describe, it } from "@std/testing/bdd";
import postgres from "postgres";
import { type Cluster, startCluster } from "../../support/cluster.ts";
import { createTestService, type TestService } from "../../support/service.ts";

/**
 * A stand-in for an engine that keeps the rows of each tenant on a server of its own: a table whose
 * partitions are elsewhere, by postgres_fdw. It refuses system columns as they do.
 */
describe("a table whose rows are on other servers", () => {
  let service: TestService;
  let shard: Cluster;

  before(async () => {
    service = await createTestService("real", {
      environment: { ROWGATE_AUDIT: "on" },
      policy: { tables: { shipments: { expose: true, primary_key: ["tenant_id", "id"] } } },
    });
    shard = await startCluster();
    const { port, password } = new URL(shard.url);
    const there = postgres(`${shard.url}/postgres`, { max: 1, onnotice: () => {} });
    await there.unsafe(
      `create table shipments_2 (tenant_id int4 not null, id int4 not null, code text,
        day date, tags text[], primary key (tenant_id, id));
      insert into shipments_2 select 1, n, 'c' || n % 5 from generate_series(1, 20) n`,
    );
    await there.end();
    await service.database.admin.unsafe(`create extension postgres_fdw;
      create server shard foreign data wrapper postgres_fdw
        options (host '127.0.0.1', port '${port}', dbname 'postgres');
      create user mapping for public server shard options (user 'postgres', password '${password}');
      create table shipments (tenant_id int4 not null, id int4 not null, code text, day date,
        tags text[]) partition by list (tenant_id);
      create table shipments_1 partition of shipments for values in (2);
      create foreign table shipments_2 partition of shipments for values in (1) server shard;
      insert into shipments values (2, 1, 'CANARY');
      grant usage on foreign server shard to rowgate_app;
      grant select, update on shipments to rowgate_app`);
    await service.catalogue.refresh(await service.catalogue.current(), { reason: "test" });
  });
  after(async () => {
    await service?.close();
    await shard?.stop();
  });

  const update = (kind: "single" | "bulk", filters: unknown, fields: unknown, headers = {}) =>
    service.send("PATCH", `/integration/tables/shipments/records/${kind}`, {
      body: { filters, fields },
      headers,
    });

  it("is read and updated, whichever ways the engine refuses [M15] [M18]", async () => {
    const page = await service.send("POST", "/integration/tables/shipments/query", { body: {} });
    assertEquals([page.status, page.body["total"]], [200, 20], page.text);
    const day = "2026-02-03";
    const ways = [
      update("single", { tenant_id: 1, id: 3 }, { day, tags: ["a"] }),
      update("single", { id: 4 }, { day }),
      update("single", { id: 5 }, { day }, { prefer: "tx=rollback" }),
      update("bulk", { code: "c1" }, { day, tags: ["b"] }),
    ];
    for (const way of ways) {
      const { status, text } = await way;
      assertEquals(status, 200, text);
    }
    const batch = await service.send("PATCH", "/integration/tables/shipments/records/batch", {
      body: { updates: [7, 8].map((id) => ({ filters: { id }, fields: { day } })) },
    });
    assertEquals(batch.status, 200, batch.text);
    const rows = await service.database.admin`
      select id, day::text from shipments where day is not null order by id`;
    assertEquals(rows.map(({ id }) => id), [1, 3, 4, 6, 7, 8, 11, 16]);
  });

  it("finds nothing where the filter names another tenant [M16]", async () => {
    const single = await update("single", { tenant_id: 2, id: 1 }, { code: "x" });
    assertEquals([single.status, single.body["matched"]], [404, 0], single.text);
    const bulk = await update("bulk", { tenant_id: 2 }, { code: "x" });
    assertEquals([bulk.status, bulk.body["updated"]], [200, 0], bulk.text);
  });

  it("is 503 while its server is away, and other tables work [M19]", async () => {
    await shard.halt("immediate");
    const away = await update("single", { tenant_id: 1, id: 3 }, { code: "away" });
    assertEquals(away.status, 503, away.text);
    const page = await service.send("POST", "/integration/tables/shipments/query", { body: {} });
    assertEquals(page.status, 503, page.text);
    const deals = await service.send("POST", "/integration/tables/deals/query", { body: {} });
    assertEquals(deals.status, 200, deals.text);
    await shard.start();
    const back = await update("single", { tenant_id: 1, id: 3 }, { code: "back" });
    assertEquals(back.status, 200, back.text);
  });
});
