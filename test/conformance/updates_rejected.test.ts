import { assert, assertEquals } from "@std/assert";
import { it } from "@std/testing/bdd";
import { checksumTenant } from "../support/checksum.ts";
import { waitUntil } from "../support/wait_until.ts";
import { assertOk, assertRejected } from "./assert_response.ts";
import { describeService } from "./describe_service.ts";

describeService(
  "Updates, what the database rejects",
  ({ kind, query, single, bulk, batch, run, service }) => {
    const mine = () => checksumTenant(service().database.admin, 1);
    const theirs = () => checksumTenant(service().database.admin, 2);

    it("responds to unique, exclusion and foreign key violations with 409 at their fields [E31] [US14]", async () => {
      const before = await mine();
      const violations: readonly [string, Record<string, unknown>, (readonly string[])?][] = [
        ["a unique key", { reference: "REF-2" }],
        ["a unique key", { reference: "REF-2-CANARY" }],
        ["a unique key", { seat: 2 }],
        ["an exclusion constraint", { room: 2, price: 9, during: "[2026-03-01,2026-12-31)" }, [
          "room",
          "during",
        ]],
        ["an exclusion constraint", { during: "[2026-03-01,2026-12-31)" }],
        ["a foreign key", { guest_id: 999 }],
        ["a foreign key", { guest_id: 1001, price: 8 }, ["guest_id"]],
        ["a foreign key", { parent_id: 999 }],
      ];
      for (const [broken, fields, at = Object.keys(fields)] of violations) {
        for (const update of [single, bulk]) {
          const response = await update("bookings", { filters: { id: 1 }, fields });
          const error = assertRejected(response, 409);
          const text = `The new values conflict with existing data: they break ${broken}`;
          assertEquals(error, at.map((field) => `fields.${field}: ${text}`).join("; "));
        }
        const updates = [
          { filters: { id: 2 }, fields: { price: 1 } },
          { filters: { id: 1 }, fields },
        ];
        const error = assertRejected(await batch("bookings", { updates }), 409);
        assert(
          error.startsWith(`updates[1].fields.${at[0]}: `) || error.startsWith("The new"),
          error,
        );
      }
      assertEquals(await mine(), before);
    });

    it("names no field where a trigger or another table's key is at fault, and finds expressions and partitions [E31]", async () => {
      await run(`
        create table parts (id int4, tenant_id int4 not null, code text, size int4,
          primary key (id, tenant_id)) partition by list (tenant_id);
        create table parts_1 partition of parts for values in (1);
        create table parts_2 partition of parts for values in (2);
        create unique index on parts (tenant_id, lower(code));
        create table owned (code int4 unique);
        insert into owned values (1);
        create table parents (id int4 primary key, tenant_id int4 not null, size int4 unique);
        create table children (size int4 references parents (size));
        insert into parts values (1, 1, 'a', 1), (2, 1, 'b', 2), (3, 2, 'c', 3);
        insert into parents values (1, 1, 10);
        insert into children values (10);
        create function spread() returns trigger language plpgsql security definer as $$ begin
          if new.size = 666 then insert into owned values (1); end if; return new; end $$;
        create trigger spread before update on parts for each row execute function spread();
        grant select, update on parts, parents to rowgate_app`);
      await waitUntil(async () => (await query("parts")).status === 200);
      const text = "The new values conflict with existing data: they break";
      const send = async (table: string, fields: Record<string, unknown>) =>
        assertRejected(await single(table, { filters: { id: 1 }, fields }), 409);
      assertEquals(await send("parts", { code: "B" }), `fields.code: ${text} a unique key`);
      assertEquals(await send("parts", { size: 666 }), `${text} a unique key`);
      assertEquals(await send("parents", { size: 11 }), `fields.size: ${text} a foreign key`);
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

    it("keeps working after an error of the database [E31]", async () => {
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

    it("shows no text of a RAISE of another class [E35] [E44]", async () => {
      for (const update of [single, bulk]) {
        const response = await update("frozen", { filters: { id: 4 }, fields: { name: "x" } });
        assertEquals(assertRejected(response, 400), "The database refused the change");
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

    it("leaves the rows of the other tenant unchanged [S10]", async () => {
      const others = await theirs();
      await bulk("bookings", { filters: { room: 1 }, fields: { price: 7 } });
      await bulk("frozen", { filters: { mode: "free" }, fields: { name: "freed" } });
      assertEquals(await theirs(), others);
    });

    if (kind === "real") {
      it("reveals to no client which right the role lacks [E44]", async () => {
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
