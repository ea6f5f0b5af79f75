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

    it("are described from one document for all tokens with the same access [RE32]", async () => {
      const ask = async (token: string) =>
        (await service.send("GET", "/openapi.json", { token })).text;
      const { a, b } = service.tokens;
      const documents = await Promise.all([a, b, a, b].map(ask));
      const [first, ...others] = documents.map((text) => text.replace(/"Rowgate for \d+"/, '""'));
      assert(first!.includes(`/tables/many_${TABLES}/query"`));
      assert(others.every((text) => text === first), "they differ");
      const titles = documents.map((text) => JSON.parse(text).info.title);
      const expected = ["Rowgate for 1", "Rowgate for 2"];
      assertEquals(titles, [...expected, ...expected]);
    });
  });
}
