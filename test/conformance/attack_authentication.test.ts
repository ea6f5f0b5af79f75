import { assert, assertEquals } from "@std/assert";
import { it } from "@std/testing/bdd";
import { IS_REMOTE, type ReceivedResponse } from "../support/service.ts";
import { assertOk, assertRejected } from "./assert_response.ts";
import { describeSharedService } from "./describe_service.ts";

const QUERY = "/integration/tables/deals/query";
const idOf = (token: string) => token.split("_")[1];

/** What a client could distinguish two responses by. */
function whatIsSeen({ status, headers, text }: ReceivedResponse): unknown {
  const named = [...headers].filter(([name]) => !["x-request-id", "date"].includes(name));
  return { status, headers: named, text };
}

describeSharedService("attacks on authentication", ({ query, single, get, run, service }) => {
  it("cannot distinguish unknown, revoked and expired tokens, by bytes or by work [AU7]", async () => {
    const [expired, revoked, unknown] = [
      await service().issue(),
      await service().issue(),
      await service().issue(),
    ];
    await run(`
      update rowgate.tokens set expires_at = now() - interval '1 day' where id = '${idOf(expired)}';
      update rowgate.tokens set revoked_at = now() where id = '${idOf(revoked)}';
      delete from rowgate.tokens where id = '${idOf(unknown)}'`);
    // The statement of a look-up is prepared when it is sent for the second time, whatever it finds.
    for (const token of [await service().issue(), await service().issue()]) {
      assertOk(await query("deals", {}, { token }));
    }
    const seen: unknown[] = [];
    const worked: string[] = [];
    for (const token of [expired, revoked, unknown]) {
      const start = service().observations.length;
      seen.push(whatIsSeen(await query("deals", {}, { token })));
      const reported = service().observations.slice(start).filter(({ kind }) => kind !== "request");
      worked.push(JSON.stringify(reported, (key, value) => key === "waitedMs" ? 0 : value));
    }
    assertEquals([seen[1], seen[2]], [seen[0], seen[0]]);
    assertEquals([worked[1], worked[2]], [worked[0], worked[0]]);
  });

  it("takes a token only from its header, and logs none [AU9]", async () => {
    const { a } = service().tokens;
    const encoded = encodeURIComponent(btoa(a));
    const places: readonly [string, Record<string, string>, unknown][] = [
      [`?token=${a}&access_token=${a}&api_key=${encoded}`, {}, {}],
      ["", { cookie: `token=${a}; Authorization=Bearer ${a}` }, {}],
      ["", { "x-api-key": a, "proxy-authorization": `Bearer ${a}`, "x-auth-token": a }, {}],
      ["", { "x-forwarded-authorization": `Bearer ${a}` }, {}],
      ["", {}, { token: a, access_token: a, authorization: `Bearer ${a}` }],
    ];
    const start = service().observations.length;
    for (const [search, headers, body] of places) {
      const options = { token: null, headers, body };
      assertRejected(await service().send("POST", QUERY + search, options), 401);
    }
    const reported = JSON.stringify(service().observations.slice(start));
    assert(!reported.includes(a) && !reported.includes(btoa(a)), reported);
  });

  it("learns nothing about tables and bodies with an invalid token, and is answered before the body is sent [AU10]", async () => {
    let pulls = 0;
    const body = () =>
      new ReadableStream<Uint8Array<ArrayBuffer>>({
        pull(controller) {
          if (++pulls > 160) controller.close();
          else controller.enqueue(new Uint8Array(65536));
        },
      }, { highWaterMark: 0 });
    const token = `${service().tokens.a.slice(0, -6)}000000`;
    const start = service().observations.length;
    const seen = [];
    for (const table of ["deals", "nothing", "user_passwords", "bad-name"]) {
      for (const raw of ["{}", "{", "", '{"page": 0}', ...(IS_REMOTE ? [] : [body()])]) {
        seen.push(whatIsSeen(await query(table, undefined, { token, raw })));
      }
    }
    assertEquals(new Set(seen.map((one) => JSON.stringify(one))).size, 1);
    assertEquals(pulls, 0);
    const kinds = service().observations.slice(start).map(({ kind }) => kind);
    const silent = kinds.filter((kind) => !["in_flight", "token_lookup", "request"].includes(kind));
    assertEquals(silent, [], "neither catalogue nor database is asked");
  });

  it("finds no token in any response, metric or observation, plain or in base64 [AU13]", async () => {
    const tokens = Object.values(service().tokens);
    const reported: string[] = [];
    const hear = ({ text, headers }: ReceivedResponse) =>
      reported.push(text, JSON.stringify([...headers]));
    for (const token of tokens) {
      hear(await query("deals", {}, { token }));
      hear(await query("nothing", {}, { token }));
      hear(await single("deals", { filters: {} }, { token }));
      hear(await get("/integration/token", { token }));
      hear(await get("/integration/tables", { token: `${token}x` }));
      hear(await get("/nowhere", { token }));
    }
    hear(await get("/metrics"));
    reported.push(JSON.stringify(service().observations));
    const all = reported.join("\n");
    for (const token of tokens) {
      const secret = token.split("_")[2]!;
      for (const text of [token, secret, btoa(token), btoa(`Bearer ${token}`)]) {
        assert(!all.includes(text), "a token was disclosed");
      }
    }
  });

  it("still serves the token afterwards [H12]", async () => {
    assertOk(await query("deals"));
  });
}, { writes: "rows" });
