import { assert, assertEquals } from "@std/assert";
import { it } from "@std/testing/bdd";
import { checksumTenant } from "../support/checksum.ts";
import {
  assertMatched,
  assertOk,
  assertRejected,
  assertRejectedAt,
  recordsOf,
  valuesOf,
} from "./assert_response.ts";
import { describeService } from "./describe_service.ts";

const POLICY = {
  tables: {
    deals: { hidden_columns: ["secret_score", "amount"], read_only_columns: ["status"] },
    guests: { read_only: true },
    countries: { shared: true },
    notes: { tenant_column: "org_id" },
    letters: { tenant_column: "org" },
    ledger: { tenant_column: "company_no" },
    documents: { tenant_column: "account_id" },
    open_deals: { expose: true, primary_key: ["fid"] },
  },
  credential_tables: ["Invoices"],
};

describeService("Tables, policy", ({ query, single, bulk, get, run, service }) => {
  for (
    const [table, column] of [["notes", "org_id"], ["letters", "org"], [
      "ledger",
      "company_no",
    ]] as const
  ) {
    it(`confines ${table} to the tenant by ${column} [T11] [T33]`, async () => {
      const others = await checksumTenant(service().database.admin, 2);
      const field = table === "ledger" ? "entry" : "body";
      const response = await query(table, { sort: [{ field: "id" }] });
      assertEquals(valuesOf(response, "id"), [1, 2, 3, 4, 5, 6]);
      assert(!response.text.includes("CANARY"));
      assertMatched(
        await single(table, { filters: { id: 1001 }, fields: { [field]: "x" } }),
        404,
        0,
      );
      assertEquals(
        assertOk(await single(table, { filters: { id: 1 }, fields: { [field]: "x" } }))["updated"],
        1,
      );
      assertEquals(
        assertOk(
          await bulk(table, { filters: { [column]: "1" }, fields: { [field]: "y" } }),
        )["updated"],
        6,
      );
      assertRejectedAt(
        await bulk(table, { filters: { id: 1 }, fields: { [column]: "2" } }),
        `fields.${column}`,
      );
      assertEquals(await checksumTenant(service().database.admin, 2), others);
    });
  }

  it("answers 404 for a table whose tenant column cannot hold the tenant of the token [O8]", async () => {
    assertRejected(await query("documents"), 404, /not found/i);
  });

  it("lets every tenant read a shared table and none write it [T12] [T13]", async () => {
    for (const token of [service().tokens.a, service().tokens.b]) {
      assertEquals(assertOk(await query("countries", {}, { token }))["total"], 5);
      const body = { filters: { code: "DE" }, fields: { name: "x" } };
      assertRejected(await single("countries", body, { token }), 403);
      assertRejected(await bulk("countries", body, { token }), 403);
    }
    assertEquals(await run("select name from countries where code = 'DE'"), [{ name: "Germany" }]);
  });

  it("rejects updates of a read-only table [T15]", async () => {
    const before = await checksumTenant(service().database.admin, 1);
    assertEquals(assertOk(await query("guests"))["total"], 5);
    assertRejected(await single("guests", { filters: { id: 1 }, fields: { name: "x" } }), 403);
    assertRejected(await bulk("guests", { filters: { id: 1 }, fields: { name: "x" } }), 403);
    assertEquals(await checksumTenant(service().database.admin, 1), before);
  });

  it("rejects a read-only column in fields, and reads it [T16]", async () => {
    assertRejectedAt(
      await single("deals", { filters: { fid: 1 }, fields: { status: "open" } }),
      "fields.status",
      "status",
    );
    assertEquals(
      assertOk(
        await query("deals", { filters: { and: [{ field: "status", op: "eq", value: "won" }] } }),
      )["total"],
      15,
    );
  });

  it("has no column that the policy hides [T14] [T18]", async () => {
    const [record] = recordsOf(await query("deals", { per_page: 1 }));
    assert(!("amount" in (record ?? {})) && !("secret_score" in (record ?? {})));
    assertRejectedAt(await query("deals", { select: ["amount"] }), "select[0]");
    assertRejectedAt(
      await single("deals", { filters: { amount: 1 }, fields: { note: "x" } }),
      "filters.amount",
    );
    assertRejectedAt(
      await single("deals", { filters: { fid: 1 }, fields: { amount: 1 } }),
      "fields.amount",
    );
  });

  it("still counts and updates rows of a table with hidden columns [T14]", async () => {
    const response = await single("deals", { filters: { fid: 2 }, fields: { note: "hidden" } });
    assertEquals(assertOk(response)["updated"], 1);
  });

  it("adds credential tables, whatever their case, and removes none [T29] [T30] [T27] [CF7]", async () => {
    for (const table of ["invoices", "INVOICES", "user_passwords"]) {
      assertRejected(await query(table), 403, "not readable through the integration API");
    }
    assert(!(await get("/integration/tables")).text.includes('"invoices"'));
  });

  it("reads a view that the policy exposes, as its tenant [T7]", async () => {
    const response = await query("open_deals", { sort: [{ field: "title" }], per_page: 200 });
    assertEquals(assertOk(response)["total"], 30);
    assert(!response.text.includes("CANARY"));
    assertRejected(await query("deals_per_status"), 404);
  });

  it("rejects an update of a view that the policy exposes [T52]", async () => {
    const before = await checksumTenant(service().database.admin, 1);
    const change = { filters: { fid: 1 }, fields: { title: "changed" } };
    for (const update of [single, bulk]) {
      assertRejected(await update("open_deals", change), 403, "not writable");
    }
    assertEquals(await checksumTenant(service().database.admin, 1), before);
  });

  it("reports the key of a view from the policy [T17]", async () => {
    const { tables } = assertOk(await get("/integration/tables"));
    const view = (tables as { name: string; primary_key: string[] }[]).find((table) =>
      table.name === "open_deals"
    );
    assertEquals(view?.primary_key, ["fid"]);
  });
}, { policy: POLICY });

describeService("Tables, a tenant column of type uuid", ({ query, service }) => {
  it("does not find tables whose tenant column the configuration does not name [T5] [R10]", async () => {
    assertRejected(await query("deals"), 404);
    assertRejected(await query("documents", {}, { token: service().tokens.a }), 404);
  });
}, { policy: {}, environment: { ROWGATE_TENANT_COLUMN: "account_id" } });
