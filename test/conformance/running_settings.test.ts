import { assertEquals } from "@std/assert";
import { it } from "@std/testing/bdd";
import { checksumTenant } from "../support/checksum.ts";
import { assertMatched, assertOk, valuesOf } from "./assert_response.ts";
import { describeService, describeSharedService } from "./describe_service.ts";
import type { Conversation } from "./describe_service.ts";

/** What works alike under row level security by the setting, prepared or not. */
function defineGuarded({ query, single, bulk, run, service }: Conversation): void {
  it("reads the tenant's rows under the operator's own row level security [R22]", async () => {
    for (const [token, first] of [[service().tokens.a, 1], [service().tokens.b, 1001]] as const) {
      const response = await query("guarded", { sort: [{ field: "id" }] }, { token });
      assertEquals(valuesOf(response, "id"), [first, first + 1, first + 2, first + 3]);
      assertEquals(response.body["total"], 4);
    }
  });

  it("counts under row level security on every page [R22]", async () => {
    for (const page of [1, 2, 3, 9]) {
      assertEquals(
        assertOk(await query("guarded", { sort: [{ field: "id" }], per_page: 2, page }))["total"],
        4,
      );
    }
  });

  it("updates the tenant's rows under row level security [R22]", async () => {
    const others = await checksumTenant(service().database.admin, 2);
    const one = assertOk(await single("guarded", { filters: { id: 2 }, fields: { name: "two" } }));
    assertEquals([one["matched"], one["updated"]], [1, 1]);
    assertMatched(
      await single("guarded", { filters: { id: 1002 }, fields: { name: "x" } }),
      404,
      0,
    );
    assertMatched(
      await single("guarded", { filters: { tenant_id: 1 }, fields: { name: "x" } }),
      409,
      4,
    );
    assertEquals(
      assertOk(
        await bulk("guarded", { filters: { tenant_id: 1 }, fields: { name: "all" } }),
      )["updated"],
      4,
    );
    const rolled = await bulk("guarded", { filters: { id: 1 }, fields: { name: "kept?" } }, {
      headers: { prefer: "tx=rollback" },
    });
    assertEquals(assertOk(rolled)["updated"], 1);
    assertEquals((await run("select 1 from guarded where name = 'all'")).length, 4);
    assertEquals(await checksumTenant(service().database.admin, 2), others);
  });

  it("carries the right tenant when two tenants send requests at once [R22]", async () => {
    const { a, b } = service().tokens;
    const responses = await Promise.all(
      Array.from(
        { length: 40 },
        (_, n) => query("guarded", { per_page: 1 + n % 4 }, { token: n % 2 ? a : b }),
      ),
    );
    for (const [n, response] of responses.entries()) {
      assertEquals(response.body["total"], 4);
      assertEquals(
        valuesOf(response, "tenant_id").every((tenant) => tenant === (n % 2 ? 1 : 2)),
        true,
      );
    }
  });

  it("serves tables without row level security as well [R22]", async () => {
    assertEquals(assertOk(await query("deals"))["total"], 60);
    assertOk(await single("deals", { filters: { fid: 1 }, fields: { note: "set" } }));
  });
}

describeService("Running, ROWGATE_TENANT_SETTING", defineGuarded, {
  environment: { ROWGATE_TENANT_SETTING: "app.tenant_id" },
});

describeService("Running, ROWGATE_PREPARE=off with ROWGATE_TENANT_SETTING", defineGuarded, {
  environment: { ROWGATE_TENANT_SETTING: "app.tenant_id", ROWGATE_PREPARE: "off" },
});

describeSharedService("Running, without the setting", ({ kind, query, single }) => {
  it("fails closed where the operator's row level security wants a setting [TE17]", async () => {
    // The embedded database serves as superuser, whom row level security lets through.
    if (kind === "embedded") return assertEquals(assertOk(await query("guarded"))["total"], 4);
    const written = await single("guarded", { filters: { id: 1 }, fields: { name: "x" } });
    for (const response of [await query("guarded"), written]) {
      assertEquals([response.status, response.body], [404, {
        success: false,
        error: 'table: "guarded" was not found',
      }]);
    }
  });
}, { writes: "rows" });
