import { assertEquals, assertMatch } from "@std/assert";
import { it } from "@std/testing/bdd";
import { checksumTenant } from "../support/checksum.ts";
import type { ReceivedResponse } from "../support/service.ts";
import { assertMatched, assertOk, assertRejected, recordsOf, valuesOf } from "./assert_response.ts";
import { describeSharedService } from "./describe_service.ts";

const OPERATIONS: readonly [string, string][] = [
  ["POST", "/integration/tables/deals/query"],
  ["PATCH", "/integration/tables/deals/records/single"],
  ["PATCH", "/integration/tables/deals/records/bulk"],
  ["GET", "/integration/tables"],
  ["GET", "/integration/tables/deals/fields"],
  ["GET", "/integration/token"],
];

describeSharedService("Tokens, authentication", ({ query, single, bulk, run, service }) => {
  function send(
    operation: readonly [string, string],
    authorization: string | undefined,
  ): Promise<ReceivedResponse> {
    return service().send(operation[0], operation[1], {
      token: null,
      headers: authorization === undefined ? {} : { authorization },
      ...(operation[0] === "GET" ? {} : { body: {} }),
    });
  }

  for (const operation of OPERATIONS) {
    it(`requires a token for ${operation.join(" ")} [A1] [A2] [AU1]`, async () => {
      const response = await send(operation, undefined);
      assertRejected(response, 401);
      assertMatch(response.headers.get("www-authenticate") ?? "", /^Bearer(?!.*error)/);
    });

    it(`takes the token of ${operation.join(" ")} as a Bearer, whatever the case of the word [A1] [S7] [AU3]`, async () => {
      for (const scheme of ["Bearer", "bearer", "BEARER"]) {
        const response = await send(operation, `${scheme} ${service().tokens.a}`);
        assertEquals(response.status, operation[0] === "PATCH" ? 400 : 200, response.text);
      }
    });
  }

  it("rejects anything that is not a Bearer token, with the same text [A3] [A1] [AU4] [AU5]", async () => {
    const { a, b } = service().tokens;
    const last = a.at(-1) === "a" ? "b" : "a";
    const texts = new Set<string>();
    const broken = [
      "Bearer rg_abc",
      `Bearer ${a.slice(0, -1)}${last}`,
      `Bearer ${a.slice(0, -1)}`,
      `Bearer ${a}, Bearer ${b}`,
      `Bearer ${a}x`,
      `Bearer "${a}"`,
      `Bearer ${"x".repeat(4000)}`,
      `Bearer ${a.toUpperCase()}`,
    ];
    for (const authorization of broken) {
      const response = await send(["POST", "/integration/tables/deals/query"], authorization);
      texts.add(assertRejected(response, 401));
      const challenge = response.headers.get("www-authenticate") ?? "";
      assertMatch(challenge, /^Bearer\b/);
      assertMatch(challenge, /error="invalid_token"/);
    }
    assertEquals(texts.size, 1, [...texts].join(" | "));
    for (const authorization of [`Basic ${a}`, a, `Token ${a}`, "Bearer"]) {
      assertRejected(await send(["POST", "/integration/tables/deals/query"], authorization), 401);
    }
  });

  it("takes the token only from the Authorization header [A1]", async () => {
    const { a } = service().tokens;
    const places: readonly [string, Record<string, string>][] = [
      [`?token=${a}&access_token=${a}`, {}],
      ["", { "x-api-key": a }],
      ["", { cookie: `token=${a}` }],
    ];
    for (const [search, headers] of places) {
      const path = `/integration/tables/deals/query${search}`;
      assertRejected(await service().send("POST", path, { token: null, headers, body: {} }), 401);
    }
  });

  it("confines a read to the tenant of the token [S8] [S9]", async () => {
    const { a, b } = service().tokens;
    for (const [token, tenant] of [[a, 1], [b, 2]] as const) {
      const response = await query("deals", { per_page: 200 }, { token });
      assertEquals(response.body["total"], 60);
      assertEquals(new Set(valuesOf(response, "tenant_id")), new Set([tenant]));
      assertEquals(response.text.includes("CANARY"), tenant === 2);
    }
  });

  it("returns nothing of another tenant for any filter [S8] [S9]", async () => {
    const filters = [
      { or: [{ field: "tenant_id", op: "eq", value: 2 }] },
      {
        or: [{ field: "fid", op: "gt", value: 1000 }, {
          field: "title",
          op: "like",
          value: "%CANARY%",
        }],
      },
      {
        or: [{ and: [{ field: "tenant_id", op: "neq", value: 1 }] }, {
          or: [{ field: "tenant_id", op: "in", value: [2] }],
        }],
      },
    ];
    for (const filter of filters) {
      const response = await query("deals", { filters: filter });
      assertEquals([recordsOf(response), response.body["total"]], [[], 0]);
    }
  });

  it("confines writes to the tenant of the token [S8] [S10]", async () => {
    const others = await checksumTenant(service().database.admin, 2);
    assertMatched(await single("deals", { filters: { fid: 1003 }, fields: { note: "x" } }), 404, 0);
    assertMatched(
      await single("deals", { filters: { tenant_id: 2, fid: 1003 }, fields: { note: "x" } }),
      404,
      0,
    );
    assertEquals(
      assertOk(
        await bulk("deals", { filters: { tenant_id: 2 }, fields: { note: "x" } }),
      )["updated"],
      0,
    );
    assertEquals(
      assertOk(
        await bulk("deals", { filters: { closed: true }, fields: { note: "all" } }),
      )["updated"],
      30,
    );
    assertEquals(await checksumTenant(service().database.admin, 2), others);
    assertEquals(
      (await run("select 1 from deals where note = 'all' and tenant_id = 1")).length,
      30,
    );
  });
}, { writes: "rows" });
