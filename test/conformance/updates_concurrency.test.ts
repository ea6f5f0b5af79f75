import { assert, assertEquals, assertMatch } from "@std/assert";
import { it } from "@std/testing/bdd";
import { checksumTenant } from "../support/checksum.ts";
import { waitUntil } from "../support/wait_until.ts";
import { assertMatched, assertOk, assertRejected } from "./assert_response.ts";
import { describeService, describeSharedService } from "./describe_service.ts";
import { awaitBlocked, holding } from "./holding.ts";

describeSharedService("Updates, concurrency", (conversation) => {
  const { kind, single, bulk, run } = conversation;

  it("lets exactly one of 16 concurrent compare-and-sets succeed in each round [U22]", async () => {
    for (let round = 0; round < 5; round++) {
      const filters = { fid: 50, external_no: 50, note: `round ${round}` };
      await run(`update deals set note = 'round ${round}' where fid = 50`);
      const responses = await Promise.all(
        Array.from(
          { length: 16 },
          (_, n) => single("deals", { filters, fields: { note: `won ${n}` } }),
        ),
      );
      const won = responses.flatMap((response, n) => response.status === 200 ? [n] : []);
      for (const response of responses) {
        if (response.status !== 200) assertMatched(response, 404, 0);
      }
      assertEquals(won.length, 1);
      assertEquals(await run("select note from deals where fid = 50"), [{ note: `won ${won[0]}` }]);
    }
  });

  if (kind === "real") {
    it("lets two singles that swap values both succeed, each alone in its own snapshot [CO19]", async () => {
      await run(
        "update order_lines set product = case line_no when 1 then 'left' when 2 then 'right' else 'none' end where tenant_id = 1 and order_no = 1",
      );
      const swap = (from: string, to: string) =>
        single("order_lines", {
          filters: { order_no: 1, product: from },
          fields: { product: to },
        });
      let responses: ReturnType<typeof swap>[] = [];
      const text = "select from order_lines where tenant_id = 1 and order_no = 1 for update";
      await holding(conversation, text, async () => {
        responses = [swap("left", "right"), swap("right", "left")];
        await awaitBlocked(conversation, 2);
      });
      for (const response of await Promise.all(responses)) {
        assertEquals(assertOk(response)["matched"], 1);
      }
      const rows = await run(
        "select product from order_lines where tenant_id = 1 and order_no = 1 order by line_no limit 2",
      );
      assertEquals(rows.map(({ product }) => product), ["right", "left"]);
    });
  }

  it("does not let two singles succeed on a state that only one of them saw [U22]", async () => {
    for (let round = 0; round < 10; round++) {
      // Each would make a second row match for the other.
      await run(
        "update order_lines set product = case line_no when 1 then 'left' when 2 then 'right' else 'none' end where tenant_id = 1 and order_no = 1",
      );
      const [left, right] = await Promise.all([
        single("order_lines", {
          filters: { order_no: 1, product: "left" },
          fields: { product: "right" },
        }),
        single("order_lines", {
          filters: { order_no: 1, product: "right" },
          fields: { product: "left" },
        }),
      ]);
      const products = (await run(
        "select product from order_lines where tenant_id = 1 and order_no = 1 and line_no <= 2 order by line_no",
      ))
        .map((row) => row["product"]).join();
      const outcome = `${left.status} ${right.status} ${products}`;
      // One after the other: the second meets two rows. Each on its own snapshot: both have moved.
      assert(
        ["200 409 right,right", "409 200 left,left", "200 200 right,left"].includes(outcome),
        outcome,
      );
    }
  });

  it("counts no row twice when bulks run side by side [U42]", async () => {
    await run("update deals set note = 'side' where tenant_id = 1");
    const responses = await Promise.all(
      Array.from(
        { length: 8 },
        (_, n) => bulk("deals", { filters: { note: "side" }, fields: { note: `by ${n}` } }),
      ),
    );
    const sum = responses.reduce(
      (total, response) => total + Number(assertOk(response)["updated"]),
      0,
    );
    assertEquals(sum, 60);
  });

  if (kind === "real") {
    it("counts the matching rows again when a second row begins to match while it waits [U22]", async () => {
      await run(
        "update guests set name = case id when 1 then 'match' else 'other' end where tenant_id = 1",
      );
      const text = "update guests set name = 'match' where id in (1, 2)";
      let pending: ReturnType<typeof single> | undefined;
      await holding(conversation, text, async () => {
        pending = single("guests", { filters: { name: "match" }, fields: { name: "changed" } });
        await awaitBlocked(conversation);
      });
      assert(pending !== undefined);
      assertMatched(await pending, 409, 2);
      assertEquals((await run("select 1 from guests where name = 'changed'")).length, 0);
    });

    it("responds with 404 when the row it waited for is deleted or no longer matches [CO7]", async () => {
      for (
        const change of [
          "delete from events_log where kind = 'solo'",
          "update events_log set kind = 'other' where kind = 'solo'",
        ]
      ) {
        await run("insert into events_log values (1, 'solo', 1, now())");
        let pending: ReturnType<typeof single> | undefined;
        await holding(conversation, change, async () => {
          pending = single("events_log", { filters: { kind: "solo" }, fields: { amount: 42 } });
          await awaitBlocked(conversation);
        });
        assert(pending !== undefined);
        assertMatched(await pending, 404, 0);
      }
    });

    it("updates a row that another transaction changed meanwhile if it is still the only match [U20]", async () => {
      await run("update guests set name = 'waited' where id = 3");
      let pending: ReturnType<typeof single> | undefined;
      await holding(conversation, "update guests set tenant_id = 1 where id = 3", async () => {
        pending = single("guests", { filters: { name: "waited" }, fields: { name: "after" } });
        await awaitBlocked(conversation);
      });
      assert(pending !== undefined);
      assertOk(await pending);
      assertEquals(await run("select name from guests where id = 3"), [{ name: "after" }]);
    });

    it("repeats the victim of a deadlock [E38]", async () => {
      await run(`create function entangle() returns trigger language plpgsql as $$
          begin perform pg_sleep(0.3); update guests set name = name || '.' where id = 9 - new.id; return null; end $$;
        create trigger guests_entangle after update on guests for each row
          when (new.name like 'deadlock%' and pg_trigger_depth() = 0) execute function entangle()`);
      const responses = await Promise.all(
        [4, 5].map((id) =>
          single("guests", { filters: { id }, fields: { name: `deadlock ${id}` } })
        ),
      );
      for (const response of responses) assertEquals(assertOk(response)["updated"], 1);
      await run("drop trigger guests_entangle on guests");
    });
  }
}, { writes: "rows" });

describeService("Updates, locks and timeouts", (conversation) => {
  const { kind, query, single, bulk, run, service } = conversation;
  // The embedded database has one session, which cannot wait for itself.
  if (kind === "embedded") {
    return void it("serves on short timeouts", async () => void assertOk(await query("guests")));
  }

  for (const [name, update] of [["single", single], ["bulk", bulk]] as const) {
    it(`responds with 503 and Retry-After when ${name} meets a locked row, and changes nothing [E39] [R15] [CO8]`, async () => {
      const before = await checksumTenant(service().database.admin, 1);
      const response = await holding(
        conversation,
        "select 1 from guests where id = 1 for update",
        () => update("guests", { filters: { id: 1 }, fields: { name: "locked out" } }),
      );
      assertRejected(response, 503, /nothing was changed/i);
      assertMatch(response.headers.get("retry-after") ?? "", /^\d+$/);
      assertEquals(await checksumTenant(service().database.admin, 1), before);
      assertOk(
        await update("guests", { filters: { id: 1 }, fields: { name: `let in by ${name}` } }),
      );
    });

    it(`responds with 504 when ${name} runs out of its time, and changes nothing [E40] [R14]`, async () => {
      await run(`create or replace function linger() returns trigger language plpgsql as $$
          begin perform pg_sleep(20); return new; end $$;
        create or replace trigger notes_linger before update on notes for each row execute function linger()`);
      const before = await checksumTenant(service().database.admin, 1);
      const response = await update("notes", { filters: { id: 1 }, fields: { body: "late" } });
      assertRejected(response, 504, /nothing was changed/i);
      assertEquals(await checksumTenant(service().database.admin, 1), before);
    });
  }

  it("responds with 504 when a query runs out of its time [Q92] [R14]", async () => {
    await run(`create function slow(t int4) returns bool language plpgsql cost 1 as $$
        begin perform pg_sleep(20); return true; end $$;
      alter table letters enable row level security;
      create policy slowly on letters to rowgate_app using (slow(id))`);
    assertRejected(await query("letters"), 504);
    assertOk(await query("guests"));
  });

  it("changes nothing when the statement timeout strikes in the middle [UB8]", async () => {
    await run(`create table slowed (id int4 primary key, tenant_id int4 not null, n int4);
    insert into slowed select i, 1, 0 from generate_series(1, 2000) i;
    grant select, update on slowed to rowgate_app;
    create function dawdle() returns trigger language plpgsql as
      $$ begin perform pg_sleep(0.002); return new; end $$;
    create trigger slow_dawdle before update on slowed for each row execute function dawdle()`);
    await waitUntil(async () => (await query("slowed")).status === 200);
    const response = await bulk("slowed", { filters: { n: 0 }, fields: { n: 1 } });
    assertRejected(response, 504, "nothing was changed");
    assertEquals((await run("select 1 from slowed where n <> 0")).length, 0);
    assertOk(await query("slowed"));
  });
}, { environment: { ROWGATE_LOCK_TIMEOUT_MS: "300", ROWGATE_STATEMENT_TIMEOUT_MS: "1000" } });
