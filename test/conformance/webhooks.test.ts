import { assert, assertEquals, assertMatch } from "@std/assert";
import { before, it } from "@std/testing/bdd";
import { awaitFeeds, enableFeeds } from "../support/feeds.ts";
import { assertOk, assertRejected } from "./assert_response.ts";
import { type Conversation, describeService } from "./describe_service.ts";

const PATH = "/integration/webhooks";
const HOSTS = "hooks.example.org,*.n8n.cloud";
const URL_ = "https://hooks.example.org/catch/1";

type Body = Record<string, unknown>;

function openWebhooks({ service }: Conversation) {
  const state = { token: "" };
  before(async () => {
    await enableFeeds(service(), ["deals", "guests"]);
    await awaitFeeds(service(), ["deals", "guests"]);
    state.token = await service().issue({ scopes: ["query", "webhooks"] });
  });
  return {
    token: () => state.token,
    create: (body: unknown, token: string | null = state.token) =>
      service().send("POST", PATH, { body, token }),
    raw: (raw: string, headers?: Record<string, string>) =>
      service().send("POST", PATH, { raw, token: state.token, ...(headers && { headers }) }),
    list: async (token = state.token) =>
      assertOk(await service().send("GET", PATH, { token }))["webhooks"] as Body[],
    get: (id: unknown, token = state.token) => service().send("GET", `${PATH}/${id}`, { token }),
    remove: (id: unknown, token = state.token) =>
      service().send("DELETE", `${PATH}/${id}`, { token }),
  };
}

describeService("Webhooks", (conversation) => {
  const { service, run } = conversation;
  const { token, create, raw, list, get, remove } = openWebhooks(conversation);

  async function created(body: unknown = { url: URL_, tables: ["deals"] }, by = token()) {
    const response = await create(body, by);
    assertEquals(response.status, 201, response.text);
    return response.body["webhook"] as Body;
  }

  it("are created with a secret that is shown only once [WH1] [WH8] [WH10]", async () => {
    const webhook = await created({ url: URL_, tables: ["deals", "guests"] });
    const { id, secret, created_at, ...rest } = webhook;
    assertMatch(String(id), /^wh_[0-9A-Za-z]{16}$/);
    assertMatch(String(secret), /^whsec_[A-Za-z0-9+/]{43}=$/);
    assertMatch(String(created_at), /^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
    assertEquals(rest, {
      url: URL_,
      tables: ["deals", "guests"],
      state: "enabled",
      reason: null,
      disabled_at: null,
      delivered: 0,
      delivered_at: null,
      failed_attempts: 0,
      last_attempt_at: null,
      last_error: null,
      next_attempt_at: null,
    });
    const shown = await get(id);
    assertEquals(assertOk(shown)["webhook"], { id, created_at, ...rest });
    assert(!shown.text.includes("whsec_"));
    assertEquals(await list(), [{ id, created_at, ...rest }]);
    const removed = await remove(id);
    assertEquals(assertOk(removed)["webhook"], { id, created_at, ...rest });
    assertRejected(await get(id), 404, "The token has no such webhook");
    assertRejected(await remove(id), 404, "The token has no such webhook");
    assertEquals(await list(), []);
  });

  it("need the scopes webhooks and query, and a token [WH1] [A26]", async () => {
    const { a } = service().tokens;
    const alone = await service().issue({ scopes: ["webhooks"] });
    for (
      const [method, path] of [["POST", PATH], ["GET", PATH], ["GET", `${PATH}/x`], [
        "DELETE",
        `${PATH}/x`,
      ]]
    ) {
      const body = method === "POST" ? { url: URL_, tables: ["deals"] } : undefined;
      const send = (token: string | null) => service().send(method!, path!, { body, token });
      assertRejected(await send(a), 403, 'The token does not grant the operation "webhooks"');
      assertRejected(await send(alone), 403, 'The token does not grant the operation "query"');
      assertRejected(await send(null), 401);
    }
    assertRejected(await service().send("PATCH", PATH, { token: null }), 405);
    assertRejected(await service().send("POST", `${PATH}/x`, { token: null }), 405);
  });

  it("belong to their token and to those that replace it, and no other sees them [WH5] [SF5]", async () => {
    const own = await created();
    const sameTenant = await service().issue({ scopes: ["query", "webhooks"] });
    const otherTenant = await service().issue({ tenant: "2", scopes: ["query", "webhooks"] });
    for (const other of [sameTenant, otherTenant]) {
      assertEquals(await list(other), []);
      assertRejected(await get(own["id"], other), 404, "The token has no such webhook");
      assertRejected(await remove(own["id"], other), 404, "The token has no such webhook");
    }
    const next = await service().issue({ scopes: ["query", "webhooks"] });
    const last = await service().issue({ scopes: ["query", "webhooks"] });
    const idOf = (text: string) => text.split("_")[1];
    await run(`update rowgate.tokens set replaces = '${idOf(token())}' where id = '${idOf(next)}';
      update rowgate.tokens set replaces = '${idOf(next)}' where id = '${idOf(last)}'`);
    assertEquals((await list(last)).map(({ id }) => id), [own["id"]]);
    const added = await created(undefined, last);
    assertEquals((await list()).map(({ id }) => id), [own["id"], added["id"]]);
    assertOk(await remove(own["id"], last));
    assertOk(await remove(added["id"]));
  });

  it("name every fault of the body at its path [WH4]", async () => {
    const cases: [unknown, RegExp][] = [
      [{}, /^url: url is required, .*; tables: tables is required/],
      [{ url: 1, tables: "deals" }, /^url: 1 is not a string.*; tables: "deals" is not a list/],
      [{ url: URL_, tables: [] }, /^tables: there are 0, expected a list of 1 to 50/],
      [{ url: URL_, tables: Array(51).fill("x") }, /^tables: there are 51/],
      [{ url: URL_, tables: ["deals", 7] }, /^tables\[1\]: 7 is not a string/],
      [{ url: URL_, tables: ["deals", "deals"] }, /^tables\[1\]: "deals" is named twice/],
      [{ url: URL_, tables: ["a b"] }, /^tables\[0\]: "a b" is not a valid name/],
      [
        { url: URL_, tables: ["deals"], Url: "x" },
        /^Url: "Url" is not a known key, did you mean "url"/,
      ],
      [{ url: URL_, tables: ["deals"], secret: "x" }, /^secret: "secret" is not a known key/],
      [[], /^body: \[\] is not an object/],
      [null, /^body: null is not an object/],
      [{ url: "http://hooks.example.org/", tables: ["deals"] }, /^url: it cannot be called/],
      [{ url: "https://169.254.169.254/", tables: ["deals"] }, /^url: it cannot be called/],
      [{ url: "https://evil.example/", tables: ["deals"] }, /^url: its host may not be called/],
      [{ url: "https://n8n.cloud/", tables: ["deals"] }, /^url: its host may not be called/],
      [
        { url: "https://evil.example/", tables: ["deals", "nothing", "user_passwords"] },
        /^url: its host .*; tables\[1\]: "nothing" was not found; tables\[2\]: "user_passwords" is not readable/,
      ],
      [{ url: URL_, tables: ["documents"] }, /^tables\[0\]: "documents" .*/],
    ];
    for (const [body, expected] of cases) {
      const response = await create(body);
      assertMatch(assertRejected(response, 400), expected);
    }
    assertRejected(await raw('{"url":"x","url":"y","tables":["deals"]}'), 400);
    assertRejected(await raw("{"), 400);
    assertRejected(await raw("{}", { "content-type": "text/plain" }), 415);
    assertEquals(await list(), []);
  });

  it("are allowed only for tables with a feed that the token may query [WH4] [O9]", async () => {
    const deals = await service().issue({ scopes: ["query", "webhooks"], tables: ["deals"] });
    await created({ url: URL_, tables: ["deals"] }, deals);
    const hidden = await create({ url: URL_, tables: ["guests"] }, deals);
    assertMatch(assertRejected(hidden, 400), /^tables\[0\]: "guests" was not found$/);
    const feedless = await create({ url: URL_, tables: ["deals", "notes"] });
    assertMatch(assertRejected(feedless, 400), /^tables\[1\]: "notes" /);
  });

  it("are at most 20 of a token and 100 of a tenant, also when many are created at once [WH6]", async () => {
    const busy = await service().issue({ scopes: ["query", "webhooks"] });
    const statuses = await Promise.all(
      Array.from(
        { length: 25 },
        async () => (await create({ url: URL_, tables: ["deals"] }, busy)).status,
      ),
    );
    assertEquals(statuses.filter((status) => status === 201).length, 20, statuses.join());
    assertEquals(statuses.filter((status) => ![201, 409, 503].includes(status)), []);
    const tooMany = await create({ url: URL_, tables: ["deals"] }, busy);
    assertMatch(assertRejected(tooMany, 409), /^There are too many webhooks, expected at most 20/);
  });

  it("answer 404 for an id that cannot exist [WH5]", async () => {
    for (const id of ["x", "wh_", "wh_0000000000000000", "%27;drop", "wh_%00", "a".repeat(3000)]) {
      assertRejected(await get(id), 404);
      assertRejected(await remove(id), 404);
    }
  });

  it("rejects an idempotency key where one is created, before the body is read [IK4]", async () => {
    const headers = { "idempotency-key": '"hook"' };
    assertMatch(assertRejected(await raw("{", headers), 400), /^Idempotency-Key: no answer/);
    assertMatch(assertRejected(await raw("{"), 400), /^body: /);
  });
}, { environment: { ROWGATE_WEBHOOK_HOSTS: HOSTS } });

describeService("Webhooks that are off", (conversation) => {
  const { create, get, remove } = openWebhooks(conversation);

  it("are 404, and say that the operator can turn them on [WH3]", async () => {
    const message = "Webhooks are off, the operator of the service can turn them on";
    assertRejected(await create({ url: URL_, tables: ["deals"] }), 404, message);
    assertRejected(await get("x"), 404, message);
    assertRejected(await remove("x"), 404, message);
  });
});
