import { assert, assertEquals } from "@std/assert";
import { it } from "@std/testing/bdd";
import { checksumTenant } from "../support/checksum.ts";
import { assertOk, assertRejected, assertRejectedAt, recordsOf } from "./assert_response.ts";
import { describeSharedService } from "./describe_service.ts";

const CREDENTIAL_TABLES = [
  "user_passwords",
  "passwords",
  "password_resets",
  "password_reset_codes",
  "password_reset_tokens",
  "sessions",
  "user_sessions",
  "session_records",
  "impersonations",
  "impersonation_records",
  "user_impersonations",
];
const NOT_EXPOSED = [
  "ungranted",
  "internal_settings",
  "odd_tenant",
  "soft_tenant",
  "open_deals",
  "deals_per_status",
  "deal_totals",
  "measurements_2024",
  "measurements_rest",
  "pg_class",
  "pg_authid",
  "deals_pkey",
  "deals_fid_seq",
  "tokens",
  "constructor",
  "__proto__",
  "toString",
  "hasOwnProperty",
  "DEALS",
  "Deals",
  "a".repeat(80),
  "documents",
];

describeSharedService("Tables, catalogue", ({ kind, query, single, bulk, get, run, service }) => {
  for (const table of CREDENTIAL_TABLES) {
    it(`responds with 403 for ${table} to all three operations and Get Fields [T28] [T25] [T26] [T24] [UB14] [US18]`, async () => {
      const body = { filters: { id: 1 }, fields: { login: "x" } };
      for (const name of [table, table.toUpperCase()]) {
        assertRejected(await query(name), 403, "not readable through the integration API");
        assertRejected(await single(name, body), 403, "through the integration API");
        assertRejected(await bulk(name, body), 403, "through the integration API");
        assertRejected(
          await get(`/integration/tables/${name}/fields`),
          403,
          "through the integration API",
        );
      }
    });
  }

  it("changes nothing in a credential table, nor reports what matches [T25] [US18]", async () => {
    const stored = await run("select * from user_passwords order by id");
    const texts = new Set<string>();
    for (const password_hash of ["SECRET-HASH-1", "wrong"]) {
      const response = await single("user_passwords", {
        filters: { id: 1, password_hash },
        fields: { login: "x" },
      });
      texts.add(response.text);
    }
    assertEquals(texts.size, 1);
    assertEquals(await run("select * from user_passwords order by id"), stored);
  });

  // The embedded database serves as superuser, who holds every right.
  for (const table of NOT_EXPOSED.filter((name) => kind === "real" || name !== "ungranted")) {
    it(`answers 404 for ${table.slice(0, 40)} [N4] [N3] [T6] [T4] [T7] [T5] [T1] [US19]`, async () => {
      const body = { filters: { id: 1 }, fields: { name: "x" } };
      assertRejected(await query(table), 404, /not found/i);
      assertRejected(await single(table, body), 404, /not found/i);
      assertRejected(await bulk(table, body), 404, /not found/i);
      assertRejected(await get(`/integration/tables/${table}/fields`), 404, /not found/i);
    });
  }

  for (
    const field of [
      "secret_score",
      "ctid",
      "xmin",
      "tableoid",
      "constructor",
      "__proto__",
      "toString",
      "FID",
    ]
  ) {
    it(`has no column ${field} in any place of any operation [N4] [N3] [T19] [T20] [T21] [T22] [IN4] [IN19] [US12] [FS23]`, async () => {
      const at = field === "__proto__" ? { ["__proto__"]: 1 } : { [field]: 1 };
      assertRejectedAt(
        await query("deals", { filters: { and: [{ field, op: "eq", value: 1 }] } }),
        "filters.and[0].field",
      );
      assertRejectedAt(await query("deals", { select: [field] }), "select[0]");
      assertRejectedAt(await query("deals", { sort: [{ field }] }), "sort[0].field");
      for (const update of [single, bulk]) {
        assertRejectedAt(
          await update("deals", { filters: at, fields: { note: "x" } }),
          `filters.${field}`,
        );
        assertRejectedAt(
          await update("deals", { filters: { fid: 1 }, fields: at }),
          `fields.${field}`,
        );
      }
    });
  }

  it("never mentions a hidden column, as nearest name or in Get Fields or records [T23] [T18] [T14]", async () => {
    for (const field of ["secret_scor", "secretscore"]) {
      assert(
        !assertRejectedAt(await query("deals", { select: [field] }), "select[0]").includes(
          '"secret_score"',
        ),
      );
    }
    assert(!(await query("deals")).text.includes("secret_score"));
    assert(!(await get("/integration/tables/deals/fields")).text.includes("secret_score"));
  });

  if (kind === "real") {
    it("has no column that the role may not select [T18] [T19] [T20] [T22]", async () => {
      const [record] = recordsOf(await query("staff", { per_page: 1 }));
      assertEquals(Object.keys(record ?? {}), ["id", "tenant_id", "name", "job"]);
      assertRejectedAt(
        await query("staff", { filters: { or: [{ field: "salary", op: "gt", value: 1 }] } }),
        "filters.or[0].field",
      );
      assertRejectedAt(await query("staff", { sort: [{ field: "salary" }] }), "sort[0].field");
      assertRejectedAt(
        await single("staff", { filters: { salary: 1000 }, fields: { job: "x" } }),
        "filters.salary",
      );
      assertRejectedAt(
        await bulk("staff", { filters: { id: 1 }, fields: { salary: 1 } }),
        "fields.salary",
      );
    });
  }

  it("reads the tenant column like any other [T32]", async () => {
    const filters = { and: [{ field: "tenant_id", op: "eq", value: 1 }] };
    const body = assertOk(
      await query("guests", {
        filters,
        select: ["tenant_id"],
        sort: [{ field: "tenant_id" }],
        per_page: 1,
      }),
    );
    assertEquals([body["records"], body["total"]], [[{ tenant_id: 1 }], 5]);
  });

  it("rejects the tenant column in fields, even with the same value [T33] [US12]", async () => {
    const before = await checksumTenant(service().database.admin, 1);
    for (const tenant_id of [1, 2, null]) {
      for (const update of [single, bulk]) {
        assertRejectedAt(
          await update("guests", { filters: { id: 1 }, fields: { tenant_id } }),
          "fields.tenant_id",
          "tenant_id",
        );
      }
    }
    assertEquals(await checksumTenant(service().database.admin, 1), before);
  });

  it("rejects generated and always identity columns in fields [T34] [T35] [US12]", async () => {
    for (const field of ["gross", "serial_no", "id"]) {
      for (const update of [single, bulk]) {
        assertRejectedAt(
          await update("invoices", { filters: { id: 1 }, fields: { [field]: 5 } }),
          `fields.${field}`,
          field,
        );
      }
    }
  });

  it("queries a table with a composite key and one with none [T36] [T37]", async () => {
    assertEquals(assertOk(await query("order_lines"))["total"], 40);
    assertEquals(assertOk(await query("events_log", { sort: [{ field: "kind" }] }))["total"], 30);
  });
});
