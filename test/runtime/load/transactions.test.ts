import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { after, before, describe, it } from "@std/testing/bdd";
import { RUNTIMES } from "../../support/runtime_server.ts";
import { createTestService, type TestService } from "../../support/service.ts";

const POOL_WAIT_MS = 1500;
const PATH = "/integration/tables/slow_notes/records/bulk";
const ROUNDS = 10;

for (const runtime of RUNTIMES) {
  describe(`a tenant whose transactions take half a minute, on ${runtime}`, () => {
    let service: TestService;

    before(async () => {
      service = await createTestService("real", {
        runtime,
        environment: { ROWGATE_POOL_WAIT_MS: String(POOL_WAIT_MS) },
      });
      await service.database.admin.unsafe(`
        create table slow_notes (id int4 primary key, tenant_id int4 not null, note text);
        insert into slow_notes values (1, 1, 'a'), (2, 2, 'b');
        create function dawdle() returns trigger language plpgsql as $$
          begin perform pg_sleep(30); return new; end $$;
        create trigger dawdle before update on slow_notes for each row when (new.tenant_id = 1)
          execute function dawdle();
        grant select on slow_notes to rowgate_app;
        grant update (note) on slow_notes to rowgate_app;
        notify rowgate_catalogue`);
    });
    after(() => service?.close());

    const tryOut = (tenant: number, token: string) =>
      service.send("PATCH", PATH, {
        token,
        headers: { prefer: "tx=rollback" },
        body: { filters: { id: tenant }, fields: { note: "tried" } },
      });

    it("gives deferred constraints no more time than the rest of the transaction [RE26] [L15]", async () => {
      await service.database.admin.unsafe(`
        create function dawdle_late() returns trigger language plpgsql as $$
          begin perform pg_sleep(30); return null; end $$;
        create constraint trigger late after update on slow_notes deferrable initially deferred
          for each row when (new.note = 'late') execute function dawdle_late()`);
      const response = await service.send("PATCH", PATH, {
        token: service.tokens.b,
        headers: { prefer: "tx=rollback" },
        body: { filters: { id: 2 }, fields: { note: "late" } },
      });
      assertEquals(response.status, 504, response.text);
      // The limit of the transaction, not that of a statement, has ended it.
      assertStringIncludes(response.text, "The transaction took too long; nothing was changed");
    });

    it("runs one transaction at a time, each shorter than the wait of others, and delays no request [RE26] [L15]", async () => {
      const { a, b } = service.tokens;
      let finished = false;
      const slow = Promise.all(Array.from({ length: 4 }, () => tryOut(1, a)))
        .finally(() => finished = true);
      await new Promise((resolve) => setTimeout(resolve, 300));
      for (let round = 0; round < ROUNDS; round++) {
        const response = await tryOut(2, b);
        assertEquals([response.status, response.body["updated"]], [200, 1], response.text);
      }
      assert(!finished, "the transactions of the first tenant were over");
      for (const { status, body } of await slow) {
        assert([503, 504].includes(status), String(status));
        assert(String(body["error"]).endsWith("nothing was changed"), String(body["error"]));
      }
      const rows = await service.database.admin`select note from slow_notes order by id`;
      assertEquals(rows.map(({ note }) => note), ["a", "b"]);
    });
  });
}
