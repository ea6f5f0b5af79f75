import { assert, assertEquals, assertMatch } from "@std/assert";
import { after, before, describe, it } from "@std/testing/bdd";
import process from "node:process";
import { measureBackends } from "../../support/backend_memory.ts";
import { RUNTIMES } from "../../support/runtime_server.ts";
import { createTestService, type TestService } from "../../support/service.ts";
import { waitUntil } from "../../support/wait_until.ts";

const COLUMNS = ["c0", "c1", "c2", "c3", "c4"];
const TABLES = 400;
const LIMIT_MB = 150;

for (const runtime of RUNTIMES) {
  describe(`rows of 5 MB and ${TABLES} tables, on ${runtime}`, () => {
    let service: TestService;

    before(async () => {
      service = await createTestService("real", { runtime });
      await service.database.admin.unsafe(`
        create table crates (id int4 primary key, tenant_id int4 not null,
          ${COLUMNS.map((name) => `${name} text`)});
        insert into crates values (1, 1, ${COLUMNS.map(() => `repeat('a', 1000000)`)});
        insert into crates select n, 1, ${COLUMNS} from crates, generate_series(2, 200) n;
        grant select on crates to rowgate_app;
        do $$ begin
          for n in 1..${TABLES} loop
            execute format('create table many_%s (id int4 primary key, tenant_id int4 not null,
              name text, price numeric, made timestamptz)', n);
            execute format('grant select, update on many_%s to rowgate_app', n);
          end loop;
        end $$;
        notify rowgate_catalogue`);
      await waitUntil(async () => {
        const { text } = await service.send("GET", "/integration/tables");
        return text.includes(`"many_${TABLES}"`);
      });
    });
    after(() => service?.close());

    if (process.platform === "linux") {
      it(`are rejected as a page, eight at once, by backends of less than ${LIMIT_MB} MB [RE24] [L12]`, async () => {
        const { response, mostMb } = await measureBackends(
          service,
          () =>
            Promise.all(Array.from({ length: 8 }, () => {
              const body = { select: ["id", ...COLUMNS], per_page: 200 };
              return service.send("POST", "/integration/tables/crates/query", { body });
            })),
        );
        for (const { status, text } of response) {
          assertEquals(status, 400, text.slice(0, 300));
          assertMatch(text, /larger than 8388608 bytes/);
        }
        assert(mostMb < LIMIT_MB, `${mostMb} MB`);
      });
    }

    it("are described once for all tokens that open the same [RE32]", async () => {
      // HEAD, so that the time is that of making the document and not that of reading it.
      const ask = async (token: string) => {
        const headers = { authorization: `Bearer ${token}`, "accept-encoding": "identity" };
        const startedMs = performance.now();
        const response = await fetch(`${service.server!.address}/openapi.json`, {
          method: "HEAD",
          headers,
        });
        assertEquals(response.status, 200);
        return performance.now() - startedMs;
      };
      const { a, b } = service.tokens;
      await ask(service.tokens.deals);
      const firstMs = await ask(a);
      const laterMs: number[] = [];
      for (let round = 0; round < 9; round++) laterMs.push(await ask(round % 2 === 0 ? b : a));
      const [median] = laterMs.sort((one, other) => one - other).slice(4);
      assert(median! < firstMs / 2, `${firstMs} ms, and then ${laterMs.join(", ")} ms`);
    });
  });
}
