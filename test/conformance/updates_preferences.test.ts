import { assertEquals, assertStringIncludes } from "@std/assert";
import { it } from "@std/testing/bdd";
import { checksumTenant } from "../support/checksum.ts";
import type { ReceivedResponse } from "../support/service.ts";
import { assertMatched, assertOk, assertRejected } from "./assert_response.ts";
import { describeSharedService } from "./describe_service.ts";

const prefer = (value: string) => ({ headers: { prefer: value } });
const applied = (response: ReceivedResponse) => response.headers.get("preference-applied") ?? "";

describeSharedService("Updates, preferences", ({ query, single, bulk, run, service }) => {
  const mine = () => checksumTenant(service().database.admin, 1);
  const lost = { filters: { status: "lost" }, fields: { note: "pref" } };

  it("rejects a bulk with 409 and writes nothing when more than max-affected match [U44]", async () => {
    const before = await mine();
    assertRejected(await bulk("deals", lost, prefer("max-affected=14")), 409);
    assertRejected(await bulk("deals", lost, prefer("max-affected=0")), 409);
    assertEquals(await mine(), before);
  });

  it("counts matching rows for max-affected, also those that would not change [U44]", async () => {
    await run(
      "update deals set note = 'pref' where tenant_id = 1 and external_no % 4 = 2 and external_no < 30",
    );
    assertRejected(await bulk("deals", lost, prefer("max-affected=10")), 409);
  });

  it("runs a bulk when max-affected is not exceeded, and says so [U44] [U46]", async () => {
    const response = await bulk("deals", lost, prefer("max-affected=15"));
    assertOk(response);
    assertStringIncludes(applied(response), "max-affected=15");
    assertEquals(
      (await run("select 1 from deals where note = 'pref' and tenant_id = 1")).length,
      15,
    );
  });

  it("takes max-affected on single too [U47] [U46]", async () => {
    const one = { filters: { fid: 40 }, fields: { note: "single" } };
    const before = await mine();
    assertRejected(await single("deals", one, prefer("max-affected=0")), 409);
    assertEquals(await mine(), before);
    const response = await single("deals", one, prefer("max-affected=1"));
    assertOk(response);
    assertStringIncludes(applied(response), "max-affected=1");
  });

  it("undoes a bulk update with tx=rollback, and confirms it [U45] [U46]", async () => {
    const before = await mine();
    const body = { filters: { status: "won" }, fields: { note: "kept?" } };
    const response = await bulk("deals", body, prefer("tx=rollback"));
    assertEquals(assertOk(response)["updated"], 15);
    assertStringIncludes(applied(response), "tx=rollback");
    assertEquals(await mine(), before);
  });

  it("undoes a single update with tx=rollback, and responds as without it [U45] [U47] [U46]", async () => {
    const before = await mine();
    const body = { filters: { fid: 41 }, fields: { note: "kept?" } };
    const response = await single("deals", body, prefer("tx=rollback"));
    assertEquals(assertOk(response), {
      success: true,
      table: "deals",
      matched: 1,
      updated: 1,
      fields: body.fields,
    });
    assertStringIncludes(applied(response), "tx=rollback");
    assertMatched(
      await single("deals", { ...body, filters: { fid: 999 } }, prefer("tx=rollback")),
      404,
      0,
    );
    assertMatched(
      await single("deals", { ...body, filters: { status: "won" } }, prefer("tx=rollback")),
      409,
      15,
    );
    assertEquals(await mine(), before);
  });

  it("runs triggers and all constraints, deferred ones too, under tx=rollback [U45]", async () => {
    const before = await mine();
    for (const update of [single, bulk]) {
      const rollback = prefer("tx=rollback");
      assertRejected(
        await update("bookings", { filters: { id: 1 }, fields: { seat: 2 } }, rollback),
        409,
      );
      assertRejected(
        await update("bookings", { filters: { id: 1 }, fields: { parent_id: 999 } }, rollback),
        409,
      );
      assertRejected(
        await update("bookings", { filters: { id: 1 }, fields: { reference: "REF-2" } }, rollback),
        409,
      );
      assertRejected(
        await update("frozen", { filters: { id: 2 }, fields: { name: "x" } }, rollback),
        400,
        "this record is frozen",
      );
      assertOk(await update("bookings", { filters: { id: 1 }, fields: { seat: 200 } }, rollback));
    }
    assertEquals(await mine(), before);
  });

  it("answers the next request after a rollback from unchanged data [U45]", async () => {
    assertOk(
      await bulk(
        "guests",
        { filters: { id: 1 }, fields: { name: "ghost" } },
        prefer("tx=rollback"),
      ),
    );
    const filters = { and: [{ field: "name", op: "eq", value: "ghost" }] };
    assertEquals(assertOk(await query("guests", { filters }))["total"], 0);
    assertOk(await bulk("guests", { filters: { id: 1 }, fields: { name: "real" } }));
    assertEquals((await run("select 1 from guests where name = 'real'")).length, 1);
  });

  it("takes both preferences at once, in one header [U46]", async () => {
    const response = await bulk(
      "guests",
      { filters: { id: 2 }, fields: { name: "x" } },
      prefer("tx=rollback, max-affected=3"),
    );
    assertOk(response);
    assertStringIncludes(applied(response), "tx=rollback");
    assertStringIncludes(applied(response), "max-affected=3");
    assertRejected(await bulk("deals", lost, prefer("tx=rollback, max-affected=3")), 409);
  });

  it("ignores an unknown preference, unless handling=strict [U48] [U49]", async () => {
    const body = { filters: { id: 3 }, fields: { name: "strict" } };
    for (const unknown of ["return=minimal", "wait=10", "max-affectd=1"]) {
      assertOk(await bulk("guests", body, prefer(`${unknown}, tx=rollback`)));
      const before = await mine();
      for (const header of [`handling=strict, ${unknown}`, `${unknown}; x=1, handling=strict`]) {
        assertRejected(await bulk("guests", body, prefer(header)), 400);
        assertRejected(await single("guests", body, prefer(header)), 400);
        assertRejected(await query("guests", {}, prefer(header)), 400);
      }
      assertEquals(await mine(), before);
    }
    assertOk(await bulk("guests", body, prefer("handling=strict, max-affected=1")));
    assertOk(await query("guests", {}, prefer("handling=lenient, wait=10")));
  });

  it("rejects a value that the preference does not have, under handling=strict [U49]", async () => {
    const body = { filters: { id: 3 }, fields: { name: "value" } };
    for (const wrong of ["max-affected=many", "max-affected=-1", "tx=perhaps"]) {
      assertRejected(await bulk("guests", body, prefer(`handling=strict, ${wrong}`)), 400);
    }
  });
}, { writes: "rows" });
