import { assert, assertEquals, assertMatch } from "@std/assert";
import { it } from "@std/testing/bdd";
import { assertOk, assertRejected } from "./assert_response.ts";
import { describeSharedService } from "./describe_service.ts";

const UPDATE = { filters: { fid: 1 }, fields: { note: "token" } };
const idOf = (token: string) => token.split("_")[1];

describeSharedService("Tokens", ({ query, single, bulk, get, run, service }) => {
  it("reads rg_, id, underscore, 256 bits in base62 and a checksum [A21]", () => {
    for (const token of Object.values(service().tokens)) {
      assertMatch(token, /^rg_[0-9A-Za-z]+_[0-9A-Za-z]{44,}$/);
    }
  });

  it("stores the SHA-256 of a token and nothing else of it [A23] [AU12]", async () => {
    const { a } = service().tokens;
    const [row] = await run(
      `select t::text as row, encode(digest, 'hex') as digest from rowgate.tokens t where id = '${
        idOf(a)
      }'`,
    );
    const bytes = new Uint8Array(
      await crypto.subtle.digest("SHA-256", new TextEncoder().encode(a)),
    );
    assertEquals(
      row?.["digest"],
      Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join(""),
    );
    assert(!String(row?.["row"]).includes(a.split("_")[2] ?? a));
  });

  it("rejects updates to a token of scope query, after the table was found [A10] [O10]", async () => {
    const token = service().tokens.query;
    assertOk(await query("deals", {}, { token }));
    for (const update of [single, bulk]) {
      assertRejected(await update("deals", UPDATE, { token }), 403);
      assertRejected(await update("deals", undefined, { token, body: undefined, raw: "{" }), 403);
      assertRejected(await update("nothing", UPDATE, { token }), 404);
      assertRejected(
        await update("user_passwords", UPDATE, { token }),
        403,
        "through the integration API",
      );
    }
    assertEquals((await run("select 1 from deals where note = 'token'")).length, 0);
  });

  it("rejects queries to a token of scope update [A9] [O10]", async () => {
    const token = service().tokens.update;
    assertRejected(await query("deals", {}, { token }), 403);
    assertOk(await single("deals", UPDATE, { token }));
  });

  it("answers 404 for a table outside the token's list, as for an unknown one [O9] [T55]", async () => {
    const token = service().tokens.deals;
    assertOk(await query("deals", {}, { token }));
    const outside = assertRejected(await query("guests", {}, { token }), 404).replaceAll(
      "guests",
      "T",
    );
    const unknown = assertRejected(await query("nothing", {}, { token }), 404).replaceAll(
      "nothing",
      "T",
    );
    assertEquals(outside, unknown);
    assertRejected(
      await single("guests", { filters: { id: 1 }, fields: { name: "x" } }, { token }),
      404,
    );
    assertRejected(await get("/integration/tables/guests/fields", { token }), 404);
    const { tables } = assertOk(await get("/integration/tables", { token }));
    assertEquals((tables as { name: string }[]).map((table) => table.name), ["deals"]);
  });

  it("lets every valid token read tables, fields and itself [A11]", async () => {
    for (const token of [service().tokens.query, service().tokens.update, service().tokens.deals]) {
      for (
        const path of [
          "/integration/tables",
          "/integration/tables/deals/fields",
          "/integration/token",
        ]
      ) {
        assertOk(await get(path, { token }));
      }
    }
  });

  it("reports a token about itself, and never the secret [A12]", async () => {
    const { a, b, deals, query: reader } = service().tokens;
    const response = await get("/integration/token");
    const body = assertOk(response);
    assertEquals(body, {
      success: true,
      token: {
        id: idOf(a),
        name: "a",
        tenant: "1",
        scopes: ["query", "update"],
        tables: null,
        expires_at: null,
      },
    });
    assert(!response.text.includes(a));
    const of = async (token: string) =>
      assertOk(await get("/integration/token", { token }))["token"] as Record<string, unknown>;
    assertEquals((await of(b))["tenant"], "2");
    assertEquals((await of(deals))["tables"], ["deals"]);
    assertEquals((await of(reader))["scopes"], ["query"]);
  });

  it("reports when a token expires, as ISO 8601 [A12]", async () => {
    const token = await service().issue({ name: "limited" });
    await run(
      `update rowgate.tokens set expires_at = '2099-01-31T12:00:00Z' where id = '${idOf(token)}'`,
    );
    const body = assertOk(await get("/integration/token", { token }));
    assertMatch(
      String((body["token"] as Record<string, unknown>)["expires_at"]),
      /^2099-01-31T12:00:00(\.0+)?(Z|\+00:00)$/,
    );
  });

  it("responds to unknown, expired and revoked tokens alike: 401 with invalid_token [A4] [A5] [A6] [A7]", async () => {
    const expired = await service().issue({ name: "expired" });
    const revoked = await service().issue({ name: "revoked" });
    const unknown = await service().issue({ name: "unknown" });
    await run(
      `update rowgate.tokens set expires_at = now() - interval '1 second' where id = '${
        idOf(expired)
      }';
      update rowgate.tokens set revoked_at = now() where id = '${idOf(revoked)}';
      delete from rowgate.tokens where id = '${idOf(unknown)}'`,
    );
    const texts = new Set<string>();
    for (const token of [expired, revoked, unknown, "rg_nothing_like_it"]) {
      const response = await query("deals", {}, { token });
      texts.add(assertRejected(response, 401));
      assertMatch(
        response.headers.get("www-authenticate") ?? "",
        /^Bearer\b.*error="invalid_token"/,
      );
    }
    assertEquals(texts.size, 1, [...texts].join(" | "));
  });

  it("sees within 5 s that a token in use was revoked [A8] [AU8]", async () => {
    const token = await service().issue({ name: "in use" });
    assertOk(await query("deals", {}, { token }));
    await run(`update rowgate.tokens set revoked_at = now() where id = '${idOf(token)}'`);
    await new Promise((resolve) => setTimeout(resolve, 5000));
    assertRejected(await query("deals", {}, { token }), 401);
    assertRejected(await single("deals", UPDATE, { token }), 401);
  });

  it("serves no token table to any client [AU15]", async () => {
    for (const table of ["tokens", "rowgate", "migrations"]) {
      assertRejected(await query(table), 404);
    }
  });

  it("offers no route that creates a token [A13]", async () => {
    const tokens = await run("select count(*)::int4 as n from rowgate.tokens");
    for (
      const path of [
        "/integration/token",
        "/integration/tokens",
        "/integration/token/rotate",
        "/rowgate/tokens",
      ]
    ) {
      for (const method of ["POST", "PUT", "PATCH", "DELETE"]) {
        const response = await service().send(method, path, {
          body: { tenant: "1", scopes: ["query"] },
        });
        assert([404, 405].includes(response.status), `${method} ${path}: ${response.text}`);
      }
    }
    assertEquals(await run("select count(*)::int4 as n from rowgate.tokens"), tokens);
  });

  it("accepts a valid token after any number of invalid ones [H12]", async () => {
    const { a } = service().tokens;
    const other = await service().issue({ name: "gone" });
    await run(`delete from rowgate.tokens where id = '${idOf(other)}'`);
    for (let attempt = 0; attempt < 100; attempt++) {
      assertRejected(
        await query("deals", {}, { token: attempt % 2 ? other : `${a.slice(0, -2)}00` }),
        401,
      );
    }
    assertOk(await query("deals", {}, { token: a }));
  });
}, { writes: "rows" });
