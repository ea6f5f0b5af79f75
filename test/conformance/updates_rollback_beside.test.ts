import { assertEquals } from "@std/assert";
import { it } from "@std/testing/bdd";
import { assertOk, assertRejected } from "./assert_response.ts";
import { describeSharedService } from "./describe_service.ts";

const ROLLBACK = { headers: { prefer: "tx=rollback" } };

describeSharedService(
  "Updates, tx=rollback beside other requests",
  ({ query, single, bulk, run }) => {
    it("keeps the changes of every other request, and undoes its own [U45]", async () => {
      const responses = await Promise.all(Array.from({ length: 60 }, async (_, n) => {
        const fid = 1 + n;
        const fields = { note: `beside ${n}` };
        if (n % 3 === 0) {
          return assertOk(await single("deals", { filters: { fid }, fields }, ROLLBACK));
        }
        if (n % 3 === 1) {
          return assertOk(await bulk("deals", { filters: { fid }, fields }, ROLLBACK));
        }
        return assertOk(await single("deals", { filters: { fid }, fields }));
      }));
      for (const body of responses) assertEquals(body["updated"], 1);
      const kept = await run(
        "select fid::int4 as fid from deals where note like 'beside%' order by fid",
      );
      assertEquals(kept.map((row) => row["fid"]), Array.from({ length: 20 }, (_, n) => 3 + n * 3));
    });

    it("shows no client the changes that will be rolled back [U45]", async () => {
      const filters = { and: [{ field: "name", op: "eq", value: "ghost" }] };
      const responses = await Promise.all(Array.from({ length: 60 }, async (_, n) => {
        if (n % 2) return await query("guests", { filters });
        return await bulk(
          "guests",
          { filters: { tenant_id: 1 }, fields: { name: "ghost" } },
          ROLLBACK,
        );
      }));
      for (const [n, response] of responses.entries()) {
        assertEquals(assertOk(response)[n % 2 ? "total" : "updated"], n % 2 ? 0 : 5);
      }
    });

    it("keeps the work beside a rollback that the database rejects [U45]", async () => {
      await Promise.all(Array.from({ length: 30 }, async (_, n) => {
        if (n % 2) {
          const fields = { parent_id: 999 };
          return assertRejected(
            await bulk("bookings", { filters: { id: 1 }, fields }, ROLLBACK),
            409,
          );
        }
        const fields = { quantity: 100 + n };
        const filters = { order_no: 1 + n % 10, line_no: 1 + n % 4 };
        return assertOk(await single("order_lines", { filters, fields }));
      }));
      assertEquals((await run("select 1 from order_lines where quantity >= 100")).length, 10);
      assertEquals((await run("select 1 from bookings where parent_id is not null")).length, 0);
    });
  },
  { writes: "rows" },
);
