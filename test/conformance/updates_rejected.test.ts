import { assert, assertEquals } from "@std/assert";
import { it } from "@std/testing/bdd";
import { checksumTenant } from "../support/checksum.ts";
import { assertOk, assertRejected } from "./assert_response.ts";
import { describeService } from "./describe_service.ts";

describeService(
  "Updates, what the database rejects",
  ({ kind, single, bulk, run, service }) => {
    const mine = () => checksumTenant(service().database.admin, 1);
    const theirs = () => checksumTenant(service().database.admin, 2);

    it("responds to unique, exclusion and foreign key violations with 409 and one text [E31] [US14]", async () => {
      const before = await mine();
      const texts = new Set<string>();
      const violations: readonly [string, Record<string, unknown>][] = [
        ["unique", { reference: "REF-2" }],
        ["unique, of another tenant's row", { reference: "REF-2-CANARY" }],
        ["unique, deferred", { seat: 2 }],
        ["exclusion", { room: 2, during: "[2026-03-01,2026-12-31)" }],
        ["foreign key", { guest_id: 999 }],
        ["foreign key, of another tenant's row", { guest_id: 1001 }],
        ["foreign key, deferred", { parent_id: 999 }],
      ];
      for (const [name, fields] of violations) {
        for (const update of [single, bulk]) {
          const response = await update("bookings", { filters: { id: 1 }, fields });
          assertEquals(response.status, 409, `${name}: ${response.text}`);
          texts.add(assertRejected(response, 409));
        }
      }
      assertEquals(texts.size, 1, [...texts].join(" | "));
      assert(!/REF-|_key|_fkey|_excl|999|1001/.test([...texts].join()), [...texts].join());
      assertEquals(await mine(), before);
    });

    it("responds to a conflict among the rows of one bulk with 409, and changes none [UB7]", async () => {
      const before = await mine();
      assertRejected(
        await bulk("bookings", { filters: { tenant_id: 1 }, fields: { reference: "ONE" } }),
        409,
      );
      assertRejected(
        await bulk("bookings", { filters: { tenant_id: 1 }, fields: { seat: 5 } }),
        409,
      );
      assertEquals(await mine(), before);
    });

    it("works on after an error by the database [E31]", async () => {
      for (const update of [single, bulk]) {
        assertRejected(
          await update("bookings", { filters: { id: 2 }, fields: { guest_id: 999 } }),
          409,
        );
        assertOk(await update("bookings", { filters: { id: 2 }, fields: { guest_id: 1 } }));
      }
    });

    it("responds to a check violation with 400 and the constraint's name, without the row [E32] [E44] [US13]", async () => {
      const before = await mine();
      for (const update of [single, bulk]) {
        const price = await update("bookings", { filters: { id: 3 }, fields: { price: -1 } });
        const error = assertRejected(price, 400, "bookings_price_check", /^fields/);
        assert(!error.includes("REF-3"), error);
        assertRejected(
          await update("deals", { filters: { fid: 3 }, fields: { status: "stolen" } }),
          400,
          "deals_status_check",
        );
      }
      assertEquals(await mine(), before);
    });

    it("responds to a trigger's RAISE with 400 and its message for class P0 [E34]", async () => {
      for (const update of [single, bulk]) {
        assertRejected(
          await update("frozen", { filters: { id: 2 }, fields: { name: "x" } }),
          400,
          "this record is frozen",
        );
        assertRejected(
          await update("frozen", { filters: { id: 3 }, fields: { name: "x" } }),
          400,
          "this record is closed",
        );
      }
    });

    it("keeps a RAISE of another class to itself [E35] [E44]", async () => {
      for (const update of [single, bulk]) {
        const response = await update("frozen", { filters: { id: 4 }, fields: { name: "x" } });
        assert([400, 409, 500].includes(response.status), response.text);
        assertRejected(response, response.status);
        assert(!/SECRET|ZX001/.test(response.text), response.text);
      }
    });

    it("changes nothing when one row of many is rejected by its trigger [UB7]", async () => {
      const before = await mine();
      assertRejected(
        await bulk("frozen", { filters: { touched: 0 }, fields: { name: "all" } }),
        400,
      );
      assertEquals(await mine(), before);
    });

    it("responds with 500 and nothing but Internal error for what was not foreseen [E45] [E44]", async () => {
      await run(`create function break_guests() returns trigger language plpgsql as $$
        begin raise exception 'SECRET of the trigger' using errcode = 'XX001'; end $$;
      create trigger guests_break before update on guests for each row when (new.name = 'break') execute function break_guests()`);
      for (const update of [single, bulk]) {
        const response = await update("guests", { filters: { id: 1 }, fields: { name: "break" } });
        assertRejected(response, 500);
        assertEquals(response.body, { success: false, error: "Internal error" });
      }
      assertOk(await single("guests", { filters: { id: 1 }, fields: { name: "mended" } }));
    });

    it("leaves the other tenant's rows as they are through all of this [S10]", async () => {
      const others = await theirs();
      await bulk("bookings", { filters: { room: 1 }, fields: { price: 7 } });
      await bulk("frozen", { filters: { mode: "free" }, fields: { name: "freed" } });
      assertEquals(await theirs(), others);
    });

    if (kind === "real") {
      it("says which right the role lacks to no client [E44]", async () => {
        await run("revoke update on guests from rowgate_app");
        const response = await single("guests", {
          filters: { id: 2 },
          fields: { name: "revoked" },
        });
        assert([400, 403, 503].includes(response.status), response.text);
        assert(!/permission denied|rowgate_app/.test(response.text), response.text);
        await run("grant update (name) on guests to rowgate_app");
      });
    }
  },
);
