import { assert, assertEquals } from "@std/assert";
import { after, before, describe, it } from "@std/testing/bdd";
import { RUNTIMES } from "../../support/runtime_server.ts";
import { readMetrics } from "../../support/read_metrics.ts";
import { createRaiseInC } from "../../support/raise_in_c.ts";
import { createTestService, type TestService } from "../../support/service.ts";

const PATH = "/integration/tables/remote_deals";
/** What postgres_fdw and Citus raise while another server cannot be reached. */
const CODES = ["08006", "08001", "57P01"];
const FAILURES = 10;

for (const runtime of RUNTIMES) {
  describe(`an ERROR that reads like a lost connection, on ${runtime}`, () => {
    let service: TestService;

    before(async () => {
      service = await createTestService("real", { runtime });
      await createRaiseInC(service.database);
      await service.database.admin.unsafe(`
        create table remote_deals (id int4 primary key, tenant_id int4 not null, code text,
          number text, digits int4 generated always as (number::int4) stored);
        insert into remote_deals values (1, 1, null, '1');
        create function reach_remote() returns trigger language plpgsql as $$
          begin perform raise_in_c(new.code); end $$;
        create trigger reach before update on remote_deals for each row when (new.code is not null)
          execute function reach_remote();
        grant select on remote_deals to rowgate_app;
        grant update (code, number) on remote_deals to rowgate_app;
        notify rowgate_catalogue`);
    });
    after(() => service?.close());

    const update = (fields: Record<string, unknown>) =>
      service.send("PATCH", `${PATH}/records/single`, { body: { filters: { id: 1 }, fields } });

    async function listSessions(): Promise<string[]> {
      const rows = await service.database.admin<{ pid: string }[]>`
        select pid::text as pid from pg_stat_activity
        where datname = current_database() and application_name = 'rowgate' order by pid`;
      return rows.map(({ pid }) => pid);
    }

    it("gets 503 and ends no session [DB29]", async () => {
      await Promise.all(Array.from({ length: 8 }, () => update({ code: null })));
      const before = await listSessions();
      for (const code of CODES) {
        for (let round = 0; round < FAILURES; round++) {
          const response = await update({ code });
          assertEquals(
            [response.status, response.headers.get("retry-after")],
            [503, "1"],
            response.text,
          );
          // The other server may have committed its part before its connection was lost.
          const outcome = code === "08001"
            ? "nothing was changed"
            : "repeating the request is safe";
          assert(String(response.body["error"]).endsWith(outcome), response.text);
        }
      }
      const now = new Set(await listSessions());
      assertEquals(before.filter((pid) => !now.has(pid)), []);
    });

    it("of a generated column does not have the catalogue read for each update [RE31]", async () => {
      const count = async () => {
        const { text } = await service.send("GET", "/metrics", { token: null });
        return readMetrics(text).samples.get('rowgate_catalogue_reads_total{result="read"}') ?? 0;
      };
      const before = await count();
      const startedMs = performance.now();
      for (let round = 0; round < 20; round++) {
        const response = await update({ number: `x${round}` });
        assertEquals(response.status, 400, response.text);
      }
      const seconds = (performance.now() - startedMs) / 1000;
      const readings = await count() - before;
      assert(readings <= seconds + 2, `${readings} readings in ${seconds} s`);
    });
  });
}
