import { assertEquals, assertMatch } from "@std/assert";
import { it } from "@std/testing/bdd";
import { checksumTenant } from "../support/checksum.ts";
import {
  assertMatched,
  assertOk,
  assertRejected,
  assertRejectedAt,
  recordsOf,
} from "./assert_response.ts";
import { describeSharedService } from "./describe_service.ts";

describeSharedService("Update Single Record", ({ query, single, run, service }) => {
  const mine = () => checksumTenant(service().database.admin, 1);
  const theirs = () => checksumTenant(service().database.admin, 2);

  it("changes the one row that matches and responds with nothing but its members [U20] [U25] [U26] [U27] [U28] [U30] [U24] [S2] [US1]", async () => {
    const others = await theirs();
    const fields = { title: "New title", closed: true };
    const response = await single("deals", { filters: { external_no: 10 }, fields });
    assertEquals(assertOk(response), {
      success: true,
      table: "deals",
      matched: 1,
      updated: 1,
      fields,
    });
    assertEquals(
      await run("select fid::int4, title, closed from deals where title = 'New title'"),
      [{ fid: 10, title: "New title", closed: true }],
    );
    assertEquals(await theirs(), others);
  });

  it("combines the filters with AND [U2] [U1]", async () => {
    const fields = { note: "and" };
    assertMatched(await single("deals", { filters: { fid: 11, status: "won" }, fields }), 404, 0);
    assertOk(await single("deals", { filters: { fid: 11, status: "on hold" }, fields }));
    assertEquals((await run("select fid from deals where note = 'and'")).length, 1);
  });

  it("responds with updated 0 when the new values equal the existing ones [U29]", async () => {
    const fields = { status: "open", closed: false };
    const body = assertOk(await single("deals", { filters: { fid: 12 }, fields }));
    assertEquals([body["matched"], body["updated"]], [1, 0]);
  });

  it("responds with 404 and matched 0 when no row matches [U20] [S2] [E29] [US3]", async () => {
    const before = await mine();
    const error = assertMatched(
      await single("deals", { filters: { fid: 999999 }, fields: { note: "x" } }),
      404,
      0,
    );
    assertMatch(error, /no (row|record)|match/i);
    assertEquals(await mine(), before);
  });

  it("responds with 409 and the full number, points to bulk when several match, and changes nothing [U20] [S2] [E30] [US4]", async () => {
    const before = await mine();
    const error = assertMatched(
      await single("deals", { filters: { stage: "lead" }, fields: { note: "many" } }),
      409,
      (await run("select 1 from deals where tenant_id = 1 and stage = 'lead'")).length,
    );
    assertMatch(error, /bulk/i);
    assertEquals(await mine(), before);
  });

  it("reports the full number also when many rows match [U23]", async () => {
    assertMatched(
      await single("measurements", { filters: { tenant_id: 1 }, fields: { sensor: "x" } }),
      409,
      260,
    );
  });

  for (const value of [{ gt: 1 }, { $ne: null }, [1], [], { op: "eq", value: 1 }]) {
    it(`rejects the filter value ${JSON.stringify(value)}, for there is only equality [U3] [Q35] [US9]`, async () => {
      const before = await mine();
      assertRejectedAt(
        await single("deals", { filters: { fid: value }, fields: { note: "x" } }),
        "filters.fid",
      );
      assertEquals(await mine(), before);
    });
  }

  it("treats wildcards in a filter as ordinary characters [U3]", async () => {
    assertMatched(
      await single("deals", { filters: { title: "Deal 1%" }, fields: { note: "x" } }),
      404,
      0,
    );
  });

  it("rejects filter groups as unknown columns [U3]", async () => {
    const filters = { and: [{ field: "fid", op: "eq", value: 1 }] };
    assertRejectedAt(await single("deals", { filters, fields: { note: "x" } }), "filters.and");
  });

  for (const fid of [5, 13, null, "13"]) {
    it(`rejects the primary key in fields, even as ${JSON.stringify(fid)} [U11] [T31] [E27] [US7]`, async () => {
      const before = await mine();
      const response = await single("deals", { filters: { fid: 13 }, fields: { note: "x", fid } });
      assertRejectedAt(response, "fields.fid", /primary key/i);
      assertEquals(await mine(), before);
    });
  }

  it("sends back the field values as they were sent [U30] [U31]", async () => {
    const fields = {
      amount: "1.50000",
      created_on: "20260131",
      closed: 1,
      data: { b: [1, null], a: "ü" },
      note: null,
    };
    const body = assertOk(await single("deals", { filters: { fid: 14 }, fields }));
    assertEquals(body["fields"], fields);
  });

  it("shows the new values to the next query [U7]", async () => {
    assertOk(
      await single("deals", { filters: { fid: 15 }, fields: { amount: 99.5, note: "seen" } }),
    );
    const filters = { and: [{ field: "note", op: "eq", value: "seen" }] };
    assertEquals(recordsOf(await query("deals", { filters, select: ["fid", "amount"] })), [{
      fid: 15,
      amount: 99.5,
    }]);
  });

  it("responds with 404 without matched for a table that does not exist [E25] [E3]", async () => {
    assertRejected(
      await single("nothing", { filters: { id: 1 }, fields: { a: 1 } }),
      404,
      /not found/i,
    );
  });
}, { writes: "rows" });
