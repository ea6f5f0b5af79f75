import { assertEquals, assertStringIncludes } from "@std/assert";
import { it } from "@std/testing/bdd";
import { assertOk, assertRejected, assertRejectedAt } from "./assert_response.ts";
import { describeSharedService } from "./describe_service.ts";
import type { SendOptions } from "./describe_service.ts";
import type { ReceivedResponse } from "../support/service.ts";

const NO_JSON: SendOptions = {
  body: undefined,
  raw: "{",
  headers: { "content-type": "text/plain" },
};
const BROKEN: SendOptions = {
  body: undefined,
  raw: "{",
  headers: { "content-type": "application/json" },
};

describeSharedService("Order of checks", ({ kind, query, single, bulk, service }) => {
  it("1: an unknown route is 404 before the token is looked at [O1]", async () => {
    const paths = [
      "/console",
      "/integration",
      "/integration/tables/deals",
      "/integration/tables/deals/record",
      "/integration/tables/deals/records/many",
      "/Integration/tables",
      "/integration/tables//query",
    ];
    for (const path of paths) {
      assertRejected(await service().send("POST", path, { token: null, body: {} }), 404);
    }
  });

  it("1: a wrong method is 405 with Allow before the token is looked at [O2]", async () => {
    const wrong: readonly [string, string, string][] = [
      ["GET", "/integration/tables/deals/query", "POST"],
      ["PUT", "/integration/tables/deals/query", "POST"],
      ["PATCH", "/integration/tables/my-deals/query", "POST"],
      ["POST", "/integration/tables/deals/records/single", "PATCH"],
      ["PUT", "/integration/tables/user_passwords/records/bulk", "PATCH"],
      ["POST", "/integration/tables", "GET"],
      ["PATCH", "/integration/tables/deals/fields", "GET"],
      ["DELETE", "/integration/token", "GET"],
    ];
    for (const [method, path, allowed] of wrong) {
      const response = await service().send(method, path, { token: null });
      assertRejected(response, 405);
      assertStringIncludes(response.headers.get("allow") ?? "", allowed);
    }
  });

  it("2: a missing token is 401 before name, table and body [O3]", async () => {
    for (const table of ["my-deals", "user_passwords", "nothing", "deals"]) {
      assertRejected(await query(table, undefined, { ...NO_JSON, token: null }), 401);
      assertRejected(await single(table, undefined, { ...NO_JSON, token: null }), 401);
      assertRejected(await bulk(table, undefined, { ...NO_JSON, token: "rg_x" }), 401);
    }
  });

  it("3: a bad table name is 400 before the body is looked at [O5]", async () => {
    for (const table of ["my-deals", "user-passwords", "user_passwords%20"]) {
      assertRejectedAt(await query(table, undefined, NO_JSON), "table");
      assertRejectedAt(await single(table, undefined, BROKEN), "table");
      assertRejectedAt(await bulk(table, { filters: 1 }), "table");
    }
  });

  it("4: a credential table is 403, whether or not it exists, in any case, before the body [O6] [O7]", async () => {
    for (
      const table of [
        "user_passwords",
        "USER_PASSWORDS",
        "Sessions",
        "impersonations",
        "password_reset_tokens",
      ]
    ) {
      assertRejected(
        await query(table, undefined, NO_JSON),
        403,
        "not readable through the integration API",
      );
      assertRejected(await single(table, undefined, BROKEN), 403);
      assertRejected(await bulk(table, { filters: 1 }), 403);
      assertRejected(await service().send("GET", `/integration/tables/${table}/fields`), 403);
    }
  });

  it("5: missing, not exposed and without tenant scope are one text, before the body [O8]", async () => {
    const texts = new Set<string>();
    for (
      const table of [
        "nothing",
        "internal_settings",
        "odd_tenant",
        "open_deals",
        "measurements_2024",
        "pg_class",
      ]
    ) {
      for (const send of [query, single, bulk]) {
        texts.add(
          assertRejected(await send(table, undefined, NO_JSON), 404).replaceAll(table, "T"),
        );
      }
      const fields = await service().send("GET", `/integration/tables/${table}/fields`);
      texts.add(assertRejected(fields, 404).replaceAll(table, "T"));
    }
    assertEquals(texts.size, 1, [...texts].join(" | "));
  });

  it("7: media type is 415 before size and JSON [O11]", async () => {
    const raw = "{" + " ".repeat(2_000_000);
    assertRejected(await query("deals", undefined, { ...NO_JSON, raw }), 415);
  });

  it("7: size is 413 before JSON [O12]", async () => {
    const raw = "{" + " ".repeat(2_000_000);
    assertRejected(await query("deals", undefined, { ...BROKEN, raw }), 413);
  });

  it("7: JSON is 400 before shape, and shape before names [O13] [O14] [O15]", async () => {
    assertRejected(
      await query("deals", undefined, { ...BROKEN, raw: '{"pages": 1, "select": ["nope"' }),
      400,
      /JSON/,
    );
    const error = assertRejectedAt(await query("deals", { select: ["nope"], pages: 1 }), "pages");
    assertEquals(error.includes("nope"), false, error);
  });

  it("8: nothing is written when anything of the body is rejected [O15]", async () => {
    const response = await bulk("deals", {
      filters: { closed: true },
      fields: { note: "x", nope: 1 },
    });
    assertRejectedAt(response, "fields.nope");
    const filters = { and: [{ field: "note", op: "eq", value: "x" }] };
    assertEquals(assertOk(await query("deals", { filters }))["total"], 0);
  });

  // The embedded database has one session, which cannot be kept from its own table.
  if (kind === "real") {
    it("touches no table of the operator before all checks have passed, so none waits for a locked table [O16]", async () => {
      const update = { filters: { fid: 1 }, fields: { note: "x" } };
      const rejected: (() => Promise<ReceivedResponse>)[] = [
        () => query("deals", {}, { token: null }),
        () => query("deals", {}, { token: service().tokens.update }),
        () => single("deals", update, { token: service().tokens.query }),
        () => query("deals", undefined, BROKEN),
        () => query("deals", { pages: 1 }),
        () => query("deals", { select: ["nope"] }),
        () => query("deals", { filters: { and: [{ field: "fid", op: "eq", value: "x" }] } }),
        () => query("deals", { filters: { and: [{ field: "stage", op: "eq", value: "x" }] } }),
        () => query("deals", { per_page: 0 }),
        () => single("deals", { ...update, fields: { fid: 1 } }),
        () => single("deals", { ...update, fields: { nope: 1 } }),
        () => bulk("deals", { ...update, fields: { title: null } }),
        () => bulk("deals", { ...update, filters: {} }),
        () => bulk("deals", { ...update, fields: { amount: "x" } }),
      ];
      await service().database.admin.begin(async (transaction) => {
        await transaction`lock table deals in access exclusive mode`;
        for (const send of rejected) {
          const { status, text } = await send();
          assertEquals([400, 401, 403].includes(status), true, text);
        }
      });
      assertOk(await query("deals"));
    });
  }
}, { writes: "rows" });
