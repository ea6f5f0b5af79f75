import { assertEquals } from "@std/assert";
import { after, before, describe, it } from "@std/testing/bdd";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import postgres from "postgres";
import type { Examined } from "../../../src/cli/doctor/examine.ts";
import { type Cluster, startCluster } from "../../support/cluster.ts";
import { FIXTURE_POLICY } from "../../support/fixture_policy.ts";
import { createRaiseInC } from "../../support/raise_in_c.ts";
import { createTestService, type TestService } from "../../support/service.ts";
import { runRowgate } from "../cli/run_rowgate.ts";

const POLICY = {
  tables: {
    ...FIXTURE_POLICY.tables,
    shipments: { expose: true, primary_key: ["tenant_id", "id"] },
  },
};

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
      policy: POLICY,
    });
    await createRaiseInC(service.database);
    shard = await startCluster();
    const { port, password } = new URL(shard.url);
    const there = postgres(`${shard.url}/postgres`, { max: 1, onnotice: () => {} });
    await there.unsafe(
      `create table shipments_2 (tenant_id int4 not null, id int4 not null, code text,
        day date, tags text[], primary key (tenant_id, id));
      insert into shipments_2 select 1, n, 'c' || n % 5 from generate_series(1, 20) n;
      create table archive_1 (tenant_id int4 not null, id int4 not null, code text)`,
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
      create table archive (tenant_id int4 not null, id int4 not null, code text)
        partition by list (tenant_id);
      create foreign table archive_1 partition of archive for values in (1) server shard
        options (updatable 'false');
      create access method strange type table handler heap_tableam_handler;
      create table leftovers (tenant_id int4 not null, id int4 primary key, code text) using strange;
      insert into leftovers values (1, 1, 'a'), (2, 2, 'CANARY');
      create table ordinary (tenant_id int4 not null, id int4 primary key, code text);
      insert into ordinary values (1, 1, 'a');
      create function break() returns trigger language plpgsql as
        $$ begin perform raise_in_c('XX000'); end $$;
      create trigger break before update on leftovers for each row
        when (new.code ~ '^broken') execute function break();
      create trigger break before update on ordinary for each row
        when (new.code ~ '^broken') execute function break();
      grant select, update on archive, leftovers, ordinary to rowgate_app;
      set allow_system_table_mods = on;
      create table pg_catalog.pg_dist_partition (logicalrelid regclass, partmethod "char", partkey text);
      insert into pg_dist_partition
        values ('leftovers', 'h', '{VAR :varno 1 :varattno 1 :vartype 23 :vartypmod -1}');
      grant select on pg_dist_partition to public;
      reset allow_system_table_mods;
      grant usage on foreign server shard to rowgate_app;
      grant select, update on shipments to rowgate_app`);
    await service.catalogue.refresh(await service.catalogue.current(), { reason: "test" });
  });
  after(async () => {
    await service?.close();
    await shard?.stop();
  });

  async function listSessions(): Promise<readonly string[]> {
    const rows = await service.database.admin`select pid, backend_start::text as started
      from pg_stat_activity where usename = 'rowgate_app' and datname = current_database()`;
    return rows.map(({ pid, started }) => `${pid} ${started}`);
  }

  const updateOf =
    (table: string) => (kind: "single" | "bulk", filters: unknown, fields: unknown, headers = {}) =>
      service.send("PATCH", `/integration/tables/${table}/records/${kind}`, {
        body: { filters, fields },
        headers,
      });
  const update = updateOf("shipments");

  it("is read and updated, whichever statements the engine rejects [M15] [M18]", async () => {
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

  it("does not repeat statements that the engine has rejected once [M18]", async () => {
    const ask = (code: string) => update("single", { id: 4 }, { code });
    assertEquals((await ask("n1")).status, 200);
    const faults = () => service.observations.filter(({ kind }) => kind === "fault").length;
    const before = faults();
    assertEquals((await ask("n2")).status, 200);
    assertEquals(faults(), before);
  });

  it("lists a table as not writable if its engine cannot update rows [M24]", async () => {
    const { body } = await service.send("GET", "/integration/tables");
    const writable = new Map(
      (body["tables"] as { name: string; writable: boolean }[]).map((each) => [
        each.name,
        each.writable,
      ]),
    );
    const names = ["shipments", "leftovers", "archive"];
    assertEquals(names.map((name) => writable.get(name)), [true, true, false]);
    const refused = await updateOf("archive")("bulk", { code: "a" }, { code: "b" });
    assertEquals(refused.status, 403, refused.text);
    const fields = await service.send("GET", "/integration/tables/archive/fields");
    const open = (fields.body["fields"] as { writable: boolean }[]).filter((each) => each.writable);
    assertEquals(open, []);
    const changed = await updateOf("leftovers")("single", { code: "a" }, { code: "b" });
    assertEquals([changed.status, changed.body["updated"]], [200, 1], changed.text);
    const odd = (await service.catalogue.current()).tables.get("leftovers");
    assertEquals([odd?.pinnable, odd?.isSpread], [true, true]);
  });

  it("says so in OpenAPI as well [M24]", async () => {
    const { body } = await service.send("GET", "/openapi.json");
    const paths = Object.keys(body["paths"] as object);
    const has = (path: string) => paths.includes(`/integration/tables/${path}`);
    const names = ["shipments", "leftovers", "archive"];
    assertEquals(names.map((name) => has(`${name}/query`)), [true, true, true]);
    assertEquals(names.map((name) => has(`${name}/records/bulk`)), [true, true, false]);
  });

  it("rejects an update on which the engine of the table fails; for an ordinary table that is an error [M24] [E49]", async () => {
    for (const code of ["broken", "broken again"]) {
      const single = await updateOf("leftovers")("single", { id: 1 }, { code });
      const bulk = await updateOf("leftovers")("bulk", { id: 1 }, { code });
      for (const { status, body } of [single, bulk]) {
        assertEquals([status, body["error"]], [
          403,
          "The database does not allow updates of this table",
        ]);
      }
    }
    assertEquals((await updateOf("leftovers")("single", { id: 1 }, { code: "whole" })).status, 200);
    const { status, body } = await updateOf("ordinary")("single", { id: 1 }, { code: "broken" });
    const error = "The database failed to do this; nothing was changed";
    assertEquals([status, body], [503, { success: false, error }]);
  });

  it("reads the rows of several tenants that arrive together [M25]", async () => {
    const look = (index: number) =>
      service.send("POST", "/integration/tables/leftovers/query", {
        body: { filters: { and: [{ field: "id", op: "eq", value: 1 + index % 2 }] } },
        token: index % 2 === 0 ? service.tokens.a : service.tokens.b,
      });
    const responses = await Promise.all(Array.from({ length: 20 }, (_, index) => look(index)));
    responses.forEach(({ body, text }, index) => {
      assertEquals([body["total"], text.includes("CANARY")], [1, index % 2 === 1], text);
    });
    assertEquals(service.observations.some(({ kind }) => kind === "batch"), true);
  });

  it("finds nothing where the filter names another tenant [M16]", async () => {
    const single = await update("single", { tenant_id: 2, id: 1 }, { code: "x" });
    assertEquals([single.status, single.body["matched"]], [404, 0], single.text);
    const bulk = await update("bulk", { tenant_id: 2 }, { code: "x" });
    assertEquals([bulk.status, bulk.body["updated"]], [200, 0], bulk.text);
  });

  /** As a tenant of the same table whose rows are on another server; often enough for a plan to be kept. */
  async function askElsewhere(): Promise<void> {
    const filters = { and: [{ field: "id", op: "eq", value: 1 }] };
    const updates: readonly (readonly [string, unknown, Record<string, string>?])[] = [
      ["single", { tenant_id: 2, id: 1 }],
      ["single", { id: 1 }],
      ["single", { id: 1 }, { prefer: "tx=rollback" }],
      ["bulk", { id: 1 }],
    ];
    for (let round = 0; round < 12; round++) {
      const fields = { code: `round ${round}` };
      const token = service.tokens.b;
      const path = "/integration/tables/shipments";
      for (const body of [{}, { filters }]) {
        const page = await service.send("POST", `${path}/query`, { body, token });
        assertEquals([page.status, page.body["total"]], [200, 1], page.text);
      }
      for (const [kind, filters, headers = {}] of updates) {
        const { status, text } = await service.send("PATCH", `${path}/records/${kind}`, {
          body: { filters, fields },
          headers,
          token,
        });
        assertEquals(status, 200, `${kind} ${JSON.stringify(filters)}: ${text}`);
      }
      const { status, text } = await service.send("PATCH", `${path}/records/batch`, {
        body: { updates: [{ filters: { id: 1 }, fields }] },
        token,
      });
      assertEquals(status, 200, text);
    }
  }

  it("is 503 while its server is away; other tables and tenants work, on the same sessions [M19]", async () => {
    const sessions = await listSessions();
    await shard.whileHalted("immediate", async () => {
      const away = await update("single", { tenant_id: 1, id: 3 }, { code: "away" });
      assertEquals(away.status, 503, away.text);
      const page = await service.send("POST", "/integration/tables/shipments/query", { body: {} });
      assertEquals(page.status, 503, page.text);
      const deals = await service.send("POST", "/integration/tables/deals/query", { body: {} });
      assertEquals(deals.status, 200, deals.text);
      const now = await listSessions();
      assertEquals(sessions.filter((one) => !now.includes(one)), []);
      await askElsewhere();
    });
    const back = await update("single", { tenant_id: 1, id: 3 }, { code: "back" });
    assertEquals(back.status, 200, back.text);
  });

  it("is examined by doctor, which asks for rows of one tenant as another [M16] [R31]", async () => {
    const ROWGATE_POLICY = join(shard.folder, "policy.json");
    await writeFile(ROWGATE_POLICY, JSON.stringify(POLICY));
    const { out } = await runRowgate(["doctor", "--json"], {
      DATABASE_URL: service.database.servingUrl!,
      ROWGATE_POLICY,
    });
    const { checks } = JSON.parse(out) as { readonly checks: readonly Examined[] };
    const { seen, findings } = checks.find(({ name }) => name === "isolation")!;
    assertEquals(findings, [], seen);
  });
});
