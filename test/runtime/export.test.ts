import { assert, assertEquals, assertMatch } from "@std/assert";
import { afterAll, beforeAll, describe, it } from "@std/testing/bdd";
import { readFile } from "node:fs/promises";
import { revokeToken } from "../../src/access/tokens/manage.ts";
import { createTestDatabase, type TestDatabase } from "../support/database.ts";
import { openExportReader } from "../support/export_reader.ts";
import { RUNTIMES } from "../support/runtime_server.ts";
import { createTestService, type TestService } from "../support/service.ts";
import { waitSoon, waitUntil } from "../support/wait_until.ts";

/** Of 2 kB each: more than the kernel takes of one that reads nothing, and the service may grow by. */
const ROWS = 60_000;
/** Of another tenant: more than the kernel takes. */
const OTHER_ROWS = 20_000;
const SEND_TIMEOUT_MS = 2500;
/** Makes Node say what its array buffers hold, whenever they hold another MB. */
const REPORT_BUFFERS = `let most = 0;
  setInterval(() => {
    const held = Math.ceil(process.memoryUsage().arrayBuffers / 1e6);
    if (held > most) console.log("buffers hold " + (most = held) + " MB");
  }, 5).unref();`;

/** Of all runtimes: to fill it takes seconds. */
let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase("real", "fixture", { served: true });
  await database.admin.unsafe(`
    create unlogged table bulk (id int4 primary key, tenant_id int4 not null, body text);
    alter table bulk alter body set storage external;
    with bodies as materialized (
      select k, (select string_agg(md5(k || '.' || i), '') from generate_series(1, 64) i) body
      from generate_series(0, 499) k
    )
    insert into bulk select n, case when n <= ${ROWS} then 1 else 2 end, body
      from generate_series(1, ${ROWS + OTHER_ROWS}) n join bodies on k = n % 500 order by n;
    grant select on bulk to rowgate_app`);
});
afterAll(() => database.drop());

for (const runtime of RUNTIMES) {
  describe(`exports on ${runtime}`, () => {
    let service: TestService;
    const logged: string[] = [];

    beforeAll(async () => {
      service = await createTestService("real", {
        runtime,
        database,
        environment: {
          ROWGATE_SEND_TIMEOUT_MS: String(SEND_TIMEOUT_MS),
          NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(REPORT_BUFFERS)}`,
        },
        logged: (line) => logged.push(line),
      });
      const ask = () => service.send("POST", "/integration/tables/bulk/query", { body: {} });
      await waitUntil(async () => (await ask()).status === 200);
    });
    afterAll(() => service.close());

    const open = (options: { token?: string; accept?: string } = {}) =>
      openExportReader(service.server!.address, { token: service.tokens.a, ...options });

    /** The sessions that export, in Postgres's own words. */
    async function countExports(): Promise<number> {
      const rows = await service.database.admin`
        select from pg_stat_activity where datname = current_database()
          and application_name = 'rowgate' and state <> 'idle' and query like '%octet_length%'`;
      return rows.length;
    }

    async function awaitFree(): Promise<void> {
      await waitSoon(async () => await countExports() === 0, 250);
      const { text } = await service.send("GET", "/metrics");
      await waitUntil(() => /^rowgate_exports_running 0$/m.test(text));
    }

    it("waits for a slow client, in constant memory, and gives it everything [EX6] [XA1]", async () => {
      const { pid } = service.server!;
      await (await open().readAll());
      const beforeMiB = await readMiB(pid);
      const reader = open();
      await reader.read(1_000_000);
      assertEquals(reader.status(), "200");
      await waitUntil(async () => {
        const [found] = await service.database.admin<{ wait_event: string | null }[]>`
          select wait_event from pg_stat_activity where datname = current_database()
            and state = 'active' and query like '%octet_length%' and pid <> pg_backend_pid()`;
        return found?.wait_event === "ClientWrite";
      });
      const others = await service.send("POST", "/integration/tables/deals/query", { body: {} });
      assertEquals(others.status, 200);
      const { body, whole } = await reader.readAll();
      assert(whole);
      const lines = body.split("\n");
      assertEquals(lines.length, ROWS + 1);
      assertEquals(new Set(lines.slice(0, -1).map((line) => JSON.parse(line).id)).size, ROWS);
      const grownMiB = await readMiB(pid) - beforeMiB;
      assert(grownMiB < 100, `${grownMiB} MiB`);
      await awaitFree();
    });

    if (runtime === "node") {
      it("uses the memory of what was sent again, and leaves none to the collector [EX25]", async () => {
        await (await open().readAll());
        const held = logged.map((line) => Number(/^buffers hold (\d+) MB$/.exec(line)?.[1] ?? 0));
        const mostMb = Math.max(...held);
        assert(mostMb > 0 && mostMb < 10, `${mostMb} MB of 120`);
      });
    }

    for (const accept of ["application/x-ndjson", "text/csv\r\nAccept-Encoding: gzip"]) {
      const form = accept.includes("gzip") ? ", compressed" : "";
      it(`cuts off a client that stops reading${form}, and frees its session [EX7] [XA2]`, async () => {
        const reader = open({ accept });
        await reader.read(10_000);
        await waitUntil(() => logged.some((line) => /"result":"stalled"/.test(line)));
        logged.length = 0;
        await awaitFree();
        assert(!(await reader.readAll()).whole);
      });

      it(`frees the session of a client that goes away${form} [EX7] [XA3]`, async () => {
        const reader = open({ accept });
        await reader.read(10_000);
        assertEquals(await countExports(), 1);
        reader.leave();
        await awaitFree();
        await waitUntil(() => logged.some((line) => /"result":"gone"/.test(line)));
        logged.length = 0;
      });

      it(`cuts off the response when the database fails in the middle${form} [EX7] [XA4]`, async () => {
        const reader = open({ accept });
        await reader.read(10_000);
        await service.database.admin`
          select pg_terminate_backend(pid) from pg_stat_activity
          where datname = current_database() and state = 'active'
            and query like '%octet_length%' and pid <> pg_backend_pid()`;
        const { whole } = await reader.readAll();
        assert(!whole);
        await waitUntil(() => logged.some((line) => /"result":"failed","code":"/.test(line)));
        logged.length = 0;
        await awaitFree();
      });
    }

    it("ends with its token, within 5 s [EX8] [XA5]", async () => {
      const token = await service.issue({ name: "revoked" });
      const reader = open({ token });
      await reader.read(10_000);
      const id = /^rg_([^_]+)_/.exec(token)![1]!;
      await revokeToken(service.owner, id);
      let over = false;
      void reader.closed.then(() => over = true);
      await waitSoon(async () => {
        if (!over) await reader.read(100_000);
        return over;
      }, 300);
      await waitUntil(() => logged.some((line) => /"result":"revoked"/.test(line)));
      await awaitFree();
    });

    it("runs two at a time, and rejects a third with Retry-After [EX18] [XA6]", async () => {
      const readers = [open(), open({ token: service.tokens.b })];
      for (const reader of readers) await reader.read(10_000);
      const path = "/integration/tables/bulk/query";
      const headers = { accept: "text/csv" };
      const third = await service.send("POST", path, { body: {}, headers });
      assertEquals(third.status, 503);
      assertMatch(third.headers.get("retry-after")!, /^\d+$/);
      assertMatch(third.text, /Too many exports are running, at most 2 at once/);
      assertEquals((await service.send("POST", path, { body: {} })).status, 200);
      for (const reader of readers) reader.leave();
      await awaitFree();
      const body = { filters: { and: [{ field: "id", op: "lt", value: 9 }] } };
      assertEquals((await service.send("POST", path, { body, headers })).status, 200);
    });

    it("is finished by a server that stops meanwhile [EX23]", async () => {
      const reader = open({ token: service.tokens.b });
      await reader.read(10_000);
      const stopped = service.server!.stop();
      await new Promise((resolve) => setTimeout(resolve, 1500));
      const { body, whole } = await reader.readAll();
      assert(whole);
      assertEquals(body.split("\n").length, OTHER_ROWS + 1);
      await stopped;
    });
  });
}

async function readMiB(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  return Number(/^VmHWM:\s+(\d+)/m.exec(status)![1]) / 1024;
}
