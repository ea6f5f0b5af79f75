import { assert, assertEquals, assertMatch } from "@std/assert";
import { it } from "@std/testing/bdd";
import { openAgent } from "../support/agent.ts";
import { IS_REMOTE } from "../support/service.ts";
import { assertOk, assertRejected } from "./assert_response.ts";
import { describeService, describeSharedService } from "./describe_service.ts";

const POLICY = '"default";q=3;w=3600';
/** A token that was never issued: the form of one, and a wrong checksum. */
const INVALID = `rg_AAAAAAAAAAA_${"A".repeat(49)}`;

describeService("HTTP, rate limit", ({ get, query, run, service }) => {
  it("reports how much of a token's limit is left, and rejects with 429 above it [H11] [R21]", async () => {
    const token = await service().issue();
    for (const left of [2, 1, 0]) {
      const response = await query("guests", {}, { token });
      assertOk(response);
      assertEquals(response.headers.get("ratelimit-policy"), POLICY);
      assertMatch(
        response.headers.get("ratelimit") ?? "",
        new RegExp(`^"default";r=${left};t=\\d+$`),
      );
    }
    const rejected = await query("guests", {}, { token });
    assertRejected(rejected, 429);
    assertEquals(rejected.headers.get("ratelimit-policy"), POLICY);
    const seconds = rejected.headers.get("retry-after") ?? "";
    assert(Number(seconds) > 1000 && Number(seconds) <= 1200, seconds);
    assertEquals(rejected.headers.get("ratelimit"), `"default";r=0;t=${seconds}`);
  });

  it("counts each token separately [H11]", async () => {
    const [one, other] = [await service().issue(), await service().issue()];
    for (let request = 0; request < 4; request++) await query("guests", {}, { token: one });
    assertRejected(await query("guests", {}, { token: one }), 429);
    assertOk(await query("guests", {}, { token: other }));
  });

  it("rejects after the token and before the table's name and the body [O4]", async () => {
    const token = await service().issue();
    assertRejected(await query("not-a-name", {}, { token }), 400);
    assertRejected(await query("user_passwords", {}, { token }), 403);
    assertRejected(await query("nowhere", {}, { token }), 404);
    assertRejected(await query("not-a-name", {}, { token }), 429);
    assertRejected(await query("user_passwords", {}, { token }), 429);
    assertRejected(await query("guests", undefined, { token, raw: "{", headers: {} }), 429);
    assertRejected(await query("not-a-name", {}, { token: INVALID }), 401);
    assertRejected(await get("/integration/nowhere", { token }), 404);
    assertRejected(await get("/integration/tables/guests/query", { token }), 405);
  });

  it("has both headers on every response of a limited token, whatever its status [H11]", async () => {
    const token = await service().issue();
    const tables = await get("/integration/tables", { token });
    const etag = tables.headers.get("etag") ?? "";
    const unchanged = await get("/integration/tables", {
      token,
      headers: { "if-none-match": etag },
    });
    const unknown = await query("guests", { select: ["nope"] }, { token });
    const rejected = await get("/integration/token", { token });
    assertEquals([tables, unchanged, unknown, rejected].map(({ status }) => status), [
      200,
      304,
      400,
      429,
    ]);
    const reported = [tables, unchanged, unknown, rejected].map((
      { headers },
    ) => [headers.get("ratelimit-policy"), headers.get("ratelimit")?.split(";t=")[0]]);
    assertEquals(reported, [2, 1, 0, 0].map((left) => [POLICY, `"default";r=${left}`]));
  });

  it("shows no limit without a valid token [H11]", async () => {
    for (
      const response of [await get("/livez", { token: null }), await get("/", { token: null })]
    ) {
      assertEquals(response.headers.get("ratelimit"), null);
      assertEquals(response.headers.get("ratelimit-policy"), null);
    }
  });

  it("writes nothing for a request above the limit [O4]", async () => {
    const { send, issue } = service();
    const token = await issue();
    for (let request = 0; request < 3; request++) await query("guests", {}, { token });
    const body = { filters: { and: [] }, sort: [{ field: "id" }] };
    const before = await query("guests", body, { token: await issue() });
    const row = (before.body["records"] as Record<string, unknown>[])[0]!;
    const update = { filters: { id: row["id"] }, fields: { name: "above the limit" } };
    const path = "/integration/tables/guests/records/single";
    assertRejected(await send("PATCH", path, { body: update, token }), 429);
    const after = await query("guests", body, { token: await issue() });
    assertEquals(after.body["records"], before.body["records"]);
  });

  it("lets pages of a named origin read the headers [H11] [H9]", async () => {
    const headers = { origin: "https://app.example" };
    const response = await query("guests", {}, { token: await service().issue(), headers });
    const exposed = (response.headers.get("access-control-expose-headers") ?? "").split(", ");
    for (const name of ["RateLimit", "RateLimit-Policy", "Retry-After"]) {
      assert(exposed.includes(name), name);
    }
  });

  // Another process sees one peer alone: test/runtime has a test for that.
  if (IS_REMOTE) return;

  const ask = (token: string, peer?: string) => {
    const headers = { authorization: `Bearer ${token}` };
    const request = new Request("http://127.0.0.1/integration/token", { headers });
    return service().app(request, { peer });
  };

  it("responds with 429 to a peer that sends too many invalid tokens, and lets its valid ones pass [H12] [H19]", async () => {
    const peer = "192.0.2.1";
    const statuses: number[] = [];
    for (let request = 0; request < 5; request++) statuses.push((await ask(INVALID, peer)).status);
    assertEquals(statuses, [401, 401, 401, 429, 429]);
    const rejected = await ask(INVALID, peer);
    assertMatch(rejected.headers.get("retry-after") ?? "", /^\d+$/);
    assertEquals(rejected.headers.get("www-authenticate"), null);
    assertEquals(rejected.headers.get("ratelimit"), null);
    assertEquals(await rejected.json(), {
      success: false,
      error: `Authorization: too many invalid API tokens from this address, try again in ${
        rejected.headers.get("retry-after")
      } s`,
    });
    assertEquals((await ask(await service().issue(), peer)).status, 200);
    assertEquals((await ask(INVALID, "192.0.2.2")).status, 401);
    assertEquals((await ask(INVALID)).status, 401);
  });

  it("counts well-formed tokens that are revoked or unknown, and looks none up that cannot be one [A22]", async () => {
    const peer = "192.0.2.5";
    const gone: string[] = [];
    for (let made = 0; made < 5; made++) gone.push(await service().issue({ name: "gone" }));
    await run("delete from rowgate.tokens where name = 'gone'");
    const statuses: number[] = [];
    for (const token of gone) statuses.push((await ask(token, peer)).status);
    assertEquals(statuses, [401, 401, 401, 429, 429]);
    const fresh = await service().issue();
    await run("alter table rowgate.tokens rename to tokens_away");
    try {
      assertEquals((await ask(INVALID, peer)).status, 429);
      // Whether it is valid cannot be known without the table: neither 401 nor 429.
      assertEquals((await ask(fresh, peer)).status, 503);
    } finally {
      await run("alter table rowgate.tokens_away rename to tokens");
    }
  });

  it("does not count requests without a token, nor valid tokens, against a peer [H12]", async () => {
    const peer = "192.0.2.3";
    for (let request = 0; request < 5; request++) {
      const bare = new Request("http://127.0.0.1/integration/token");
      assertEquals((await service().app(bare, { peer })).status, 401);
      assertEquals((await ask(await service().issue(), peer)).status, 200);
    }
    assertEquals((await ask(INVALID, peer)).status, 401);
  });

  it("reports which limit rejected a request, and names the peer only for the limit of peers [H11]", async () => {
    const { observations, issue } = service();
    const token = await issue();
    const start = observations.length;
    for (let request = 0; request < 4; request++) await ask(token, "192.0.2.4");
    for (let request = 0; request < 4; request++) await ask(INVALID, "192.0.2.4");
    const reported = observations.slice(start).flatMap((one) =>
      one.kind === "request" ? [[one.status, one.limited, one.peer]] : []
    );
    assertEquals(reported, [
      ...new Array(3).fill([200, undefined, undefined]),
      [429, "token", undefined],
      ...new Array(3).fill([401, undefined, undefined]),
      [429, "peer", "192.0.2.4"],
    ]);
    const text = JSON.stringify(observations);
    assert(!text.includes(token) && !text.includes(INVALID));
  });

  it("counts a call of an agent once, as it does every message [MC17]", async () => {
    const token = await service().issue();
    const agent = openAgent((...words) => service().send(...words));
    const first = await agent.ask("tools/call", { name: "list_tables", arguments: {} }, { token });
    assertEquals(first.status, 200);
    assertMatch(first.headers.get("ratelimit")!, /r=2\b/);
    await agent.list({ token });
    await agent.list({ token });
    const last = await agent.ask("tools/list", {}, { token });
    assertEquals([last.status, last.headers.get("retry-after") !== null], [429, true]);
  });
}, {
  environment: { ROWGATE_RATE_LIMIT: "3/h", ROWGATE_CORS_ORIGINS: "https://app.example" },
});

describeSharedService("HTTP, no rate limit", ({ query, service }) => {
  it("is off unless it is set: no header and no 429 [R21]", async () => {
    const token = await service().issue();
    for (let request = 0; request < 20; request++) {
      const response = await query("guests", {}, { token });
      assertOk(response);
      assertEquals(response.headers.get("ratelimit"), null);
      assertEquals(response.headers.get("ratelimit-policy"), null);
    }
  });
});
