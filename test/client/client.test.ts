import { assert, assertEquals, assertRejects, assertStrictEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { createClient, isRowgateError, type Result } from "../../src/client/client.ts";
import { scriptFetch } from "./fake_service.ts";

const PAGE = { success: true, table: "deals", page: 1, per_page: 50, total: 0, records: [] };
const BUSY = [503, { success: false, error: "Busy" }, { "Retry-After": "0" }] as const;
const at = { url: "https://rows.example/base/", token: "rg_x" };

function errorOf(result: Result<object>) {
  assert(!result.success);
  return result.error;
}

describe("a request of the client", () => {
  it("sends token, body and preferences to the URL of the table", async () => {
    const { fetch, requests } = scriptFetch([200, PAGE]);
    const client = createClient({ ...at, fetch });
    const page = await client.query("deals", { per_page: 7 }, { count: false });
    assertEquals<unknown>(page, PAGE);
    const [{ url, method, headers, body }] = requests as [typeof requests[0]];
    assertEquals([method, url], [
      "POST",
      "https://rows.example/base/integration/tables/deals/query",
    ]);
    assertEquals(body, { per_page: 7 });
    assertEquals(Object.fromEntries(headers), {
      "accept": "application/json",
      "authorization": "Bearer rg_x",
      "content-type": "application/json",
      "prefer": "count=none",
    });
  });

  it("cannot leave the URL of the table through its name", async () => {
    const { fetch, requests } = scriptFetch([200, PAGE]);
    await createClient({ ...at, fetch }).query("../token?x#y");
    assertEquals(
      requests[0]!.url,
      "https://rows.example/base/integration/tables/..%2Ftoken%3Fx%23y/query",
    );
  });

  it("can ask for wide numbers as strings, for a limit and for a rollback", async () => {
    const { fetch, requests } = scriptFetch([200, { success: true, table: "deals", updated: 0 }]);
    const client = createClient({ ...at, fetch, wideNumbers: true });
    const update = { filters: { fid: 1 }, fields: { note: null } };
    await client.updateBulk("deals", update, { maxAffected: 0, rollback: true });
    await client.updateSingle("deals", update);
    const [bulk, single] = requests;
    assertEquals(bulk!.headers.get("accept"), "application/json;IEEE754Compatible=true");
    assertEquals(bulk!.headers.get("prefer"), "max-affected=0,tx=rollback");
    assertEquals([bulk!.method, bulk!.body], ["PATCH", update]);
    assert(bulk!.url.endsWith("/records/bulk") && single!.url.endsWith("/records/single"));
    assertEquals(single!.headers.get("prefer"), null);
  });

  it("deletes with filters as the body, a key of its own, and the limit of a bulk", async () => {
    const { fetch, requests } = scriptFetch([200, { success: true, table: "deals", deleted: 0 }]);
    const client = createClient({ ...at, fetch });
    await client.deleteSingle("deals", { fid: 1 }, { ifMatch: '"a"', returning: true });
    await client.deleteBulk("deals", { note: null }, { maxAffected: 3 });
    const [single, bulk] = requests;
    assertEquals([single!.method, single!.body], ["DELETE", { filters: { fid: 1 } }]);
    assertEquals([bulk!.method, bulk!.body], ["DELETE", { filters: { note: null } }]);
    assert(single!.url.endsWith("/records/single") && bulk!.url.endsWith("/records/bulk"));
    assertEquals(single!.headers.get("if-match"), '"a"');
    assertEquals(single!.headers.get("prefer"), "return=representation");
    assertEquals(bulk!.headers.get("prefer"), "max-affected=3");
    assert(single!.headers.get("idempotency-key") !== bulk!.headers.get("idempotency-key"));
  });

  it("does not repeat a delete without a key after a lost answer [IK23]", async () => {
    const { fetch, requests } = scriptFetch(new Error("cut off"));
    const client = createClient({ ...at, fetch, retries: 2 });
    const options = { rollback: true };
    const error = errorOf(await client.deleteSingle("deals", { fid: 1 }, options));
    assertEquals([error.status, requests.length], [0, 1]);
  });

  it("sends a batch as a list of updates", async () => {
    const answer = {
      success: true as const,
      table: "deals",
      results: [{ matched: 1 as const, updated: 1 }],
    };
    const { fetch, requests } = scriptFetch([200, answer]);
    const update = { filters: { fid: 1 }, fields: { note: null } };
    const options = { maxAffected: 1 };
    assertEquals(
      await createClient({ ...at, fetch }).updateBatch("deals", [update], options),
      answer,
    );
    const [{ url, body, headers, method }] = requests as [typeof requests[0] & object];
    assert(url.endsWith("/tables/deals/records/batch"));
    assertEquals([method, body], ["PATCH", { updates: [update] }]);
    assertEquals(headers.get("prefer"), "max-affected=1");
  });

  it("returns an error as a value, with status, paths and matched", async () => {
    const error = 'filters.and[0].value: "a; b: c" does not fit; per_pages: "per_pages" is not a ' +
      "known key; nothing was changed";
    const { fetch } = scriptFetch([409, { success: false, error, matched: 3 }, {
      "X-Request-Id": "abc",
    }]);
    const found = errorOf(await createClient({ ...at, fetch }).query("deals"));
    assert(isRowgateError(found));
    const { status, path, paths, matched, requestId, attempts, message, name } = found;
    assertEquals({ status, path, paths, matched, requestId, attempts, message, name }, {
      status: 409,
      path: "filters.and[0].value",
      paths: ["filters.and[0].value", "per_pages"],
      matched: 3,
      requestId: "abc",
      attempts: 1,
      message: error,
      name: "RowgateError",
    });
  });

  it("treats a response of another service as an error", async () => {
    for (const body of ["<html>", "null", "[]", { success: "yes" }, { error: 5 }]) {
      const { fetch } = scriptFetch([200, body]);
      const { status, message } = errorOf(await createClient({ ...at, fetch }).tables());
      assertEquals([status, message], [200, "No response from Rowgate, status 200"], String(body));
    }
  });

  it("is aborted by the caller's signal with its reason, also while it waits", async () => {
    const { fetch } = scriptFetch([503, {}, { "Retry-After": "30" }]);
    const controller = new AbortController();
    const reason = new Error("enough");
    const asking = createClient({ ...at, fetch }).tables({ signal: controller.signal });
    setTimeout(() => controller.abort(reason), 20);
    assertStrictEquals(await asking.catch((error: unknown) => error), reason);
    const { signal } = controller;
    await assertRejects(() => createClient({ ...at, fetch }).tables({ signal }), Error, "enough");
  });

  it("ends at its time limit", async () => {
    const fetch = (_: string, { signal }: RequestInit) =>
      new Promise<Response>((_, reject) => {
        signal!.addEventListener("abort", () => reject(new Error("aborted")));
      });
    const client = createClient({ ...at, fetch, timeoutSeconds: 0.02, retries: 0 });
    assertEquals(errorOf(await client.query("deals")).status, 0);
  });
});

describe("pages of the client", () => {
  const records = (...ids: number[]) => ({ ...PAGE, records: ids.map((id) => ({ id })) });
  const APPLIED = { "Preference-Applied": "count=none, page-token" };
  const linked = (token: string) => ({
    ...APPLIED,
    "Link": `</integration/tables/deals/query?after=${token}>; rel="next"`,
  });

  it("follow the page tokens of the service, with the same body", async () => {
    const { fetch, requests } = scriptFetch(
      [200, records(1, 2), linked("abc-_1")],
      [200, records(3, 4), linked("def")],
      [200, records(5), APPLIED],
    );
    const body = { sort: [{ field: "name" }], per_page: 2 };
    const headers: (string | null)[] = [];
    const onHeaders = (received: Headers) => headers.push(received.get("link"));
    const pages = createClient({ ...at, fetch }).records("deals", body, { onHeaders });
    assertEquals((await Array.fromAsync(pages)).map(({ id }) => id), [1, 2, 3, 4, 5]);
    const base = "https://rows.example/base/integration/tables/deals/query";
    assertEquals(requests.map(({ url }) => url), [
      base,
      `${base}?after=abc-_1`,
      `${base}?after=def`,
    ]);
    for (const request of requests) {
      assertEquals(request.headers.get("prefer"), "count=none,page-token");
      assertEquals<unknown>(request.body, body);
    }
    assertEquals(headers.length, 3);
  });

  it("throw an error in the middle", async () => {
    const error = "after: The page token belongs to other filters";
    const { fetch } = scriptFetch([200, records(1), linked("x")], [400, { success: false, error }]);
    const pages = createClient({ ...at, fetch }).pages("deals", { per_page: 1 });
    assertEquals((await pages.next()).value, [{ id: 1 }]);
    const found = await pages.next().catch((error: unknown) => error);
    assert(isRowgateError(found) && found.path === "after");
  });

  it("are numbered, or by key, where the service gives no page tokens", async () => {
    const sort = [{ field: "name" }];
    const two = (...ids: number[]) => ({ ...records(...ids), per_page: 2 });
    const older = scriptFetch([200, two(1, 2)], [200, two(1, 2)], [200, two(3)]);
    const numbered = createClient({ ...at, ...older }).records("deals", { sort, per_page: 2 });
    assertEquals((await Array.fromAsync(numbered)).map(({ id }) => id), [1, 2, 3]);
    const keyless = scriptFetch(
      [400, { success: false, error: 'sort: Table "deals" has no primary key' }],
      [200, two(1, 2)],
      [200, two(3)],
    );
    const pages = createClient({ ...at, ...keyless }).records("deals", { sort, per_page: 2 });
    assertEquals((await Array.fromAsync(pages)).map(({ id }) => id), [1, 2, 3]);
    assertEquals(keyless.requests.map(({ body }) => (body as { page?: number }).page), [
      undefined,
      undefined,
      2,
    ]);
  });
});

describe("the client sends again", () => {
  it("a request that was rejected for now, when the response says so", async () => {
    const { fetch, requests } = scriptFetch([429, {}, { "Retry-After": "1" }], BUSY, [200, PAGE]);
    const began = performance.now();
    assert((await createClient({ ...at, fetch }).query("deals")).success);
    assertEquals(requests.length, 3);
    assert(performance.now() - began >= 1000);
  });

  it("an update without a response, with the same key and body [IK23]", async () => {
    const update = { filters: { fid: 1 }, fields: { note: "x" } };
    const answer = [200, { success: true, updated: 1 }] as const;
    const running = [409, { success: false, error: "Running" }, { "Retry-After": "1" }] as const;
    for (const lost of [BUSY, new TypeError("reset"), [502, "<html>"] as const, running]) {
      const { fetch, requests } = scriptFetch(lost, answer);
      const client = createClient({ ...at, fetch });
      assert((await client.updateBulk("deals", update)).success);
      assert((await client.updateBatch("deals", [update])).success);
      const keys = requests.map(({ headers }) => headers.get("idempotency-key"));
      assertEquals([keys.length, keys[0]], [3, keys[1]]);
      assert(/^"[0-9a-f-]{36}"$/.test(keys[0]!) && keys[2] !== keys[0], "a key for each call");
      assertEquals(requests[1]!.body, requests[0]!.body);
    }
  });

  it("a dry run only if the service did not run it, and an update without retries never", async () => {
    const update = { filters: { fid: 1 }, fields: { note: "x" } };
    const lost = scriptFetch(new TypeError("reset"), [200, { success: true, updated: 1 }]);
    const client = createClient({ ...at, ...lost });
    const error = errorOf(await client.updateBulk("deals", update, { rollback: true }));
    assertEquals([error.status, error.attempts, lost.requests.length], [0, 1, 1]);
    assertEquals(lost.requests[0]!.headers.get("idempotency-key"), null);
    assert(error.cause instanceof TypeError);
    const once = scriptFetch(new TypeError("reset"));
    errorOf(await createClient({ ...at, ...once, retries: 0 }).updateSingle("deals", update));
    assertEquals(once.requests.length, 1);
  });

  it("an update without its own key where the service keeps no answers, never one of yours [IK23]", async () => {
    const update = { filters: { fid: 1 }, fields: { note: "x" } };
    const unready = [400, {
      success: false,
      error: "Idempotency-Key: answers cannot be kept",
    }] as const;
    const { fetch, requests } = scriptFetch(unready, [200, { success: true, updated: 1 }]);
    assert((await createClient({ ...at, fetch }).updateSingle("deals", update)).success);
    assertEquals(requests.map(({ headers }) => headers.has("idempotency-key")), [true, false]);
    const yours = scriptFetch(unready);
    const options = { idempotencyKey: 'order "7" \\ 1' };
    const client = createClient({ ...at, ...yours });
    assertEquals(errorOf(await client.updateSingle("deals", update, options)).status, 400);
    const keys = yours.requests.map(({ headers }) => headers.get("idempotency-key"));
    assertEquals(keys, ['"order \\"7\\" \\\\ 1"']);
  });

  it("a query without a response", async () => {
    const { fetch, requests } = scriptFetch(new TypeError("reset"), [502, "<html>"], [200, PAGE]);
    assert((await createClient({ ...at, fetch }).query("deals")).success);
    assertEquals(requests.length, 3);
  });

  it("as many times as configured, and never with 0", async () => {
    for (const retries of [0, 1]) {
      const { fetch, requests } = scriptFetch(BUSY);
      const { status, attempts } = errorOf(
        await createClient({ ...at, fetch, retries }).query("deals"),
      );
      assertEquals([status, attempts, requests.length], [503, retries + 1, retries + 1]);
    }
  });

  it("neither a request that would fail again nor one that would wait for minutes", async () => {
    for (const status of [400, 401, 403, 404, 409, 413, 500, 504]) {
      const { fetch, requests } = scriptFetch([status, { success: false, error: "No" }]);
      assertEquals(errorOf(await createClient({ ...at, fetch }).query("deals")).status, status);
      assertEquals(requests.length, 1);
    }
    const { fetch, requests } = scriptFetch([429, {}, { "Retry-After": "3600" }]);
    const { retryAfter } = errorOf(await createClient({ ...at, fetch }).query("deals"));
    assertEquals([retryAfter, requests.length], [3600, 1]);
  });
});

describe("a client with standbys behind the service", () => {
  const UPDATED = { success: true, updated: 1 };
  const positioned = (position: string) =>
    [200, UPDATED, { "Rowgate-Position": position }] as const;
  const sent = ({ requests }: ReturnType<typeof scriptFetch>) =>
    requests.filter(({ method }) => method === "POST")
      .map(({ headers }) => headers.get("rowgate-position"));

  it("sends the positions of its last updates with each query [M8]", async () => {
    const script = scriptFetch([200, PAGE], positioned("a"), [200, PAGE], positioned("b"), [
      200,
      PAGE,
    ]);
    const client = createClient({ ...at, ...script });
    const update = { filters: { fid: 1 }, fields: { title: "x" } };
    await client.query("deals");
    await client.updateSingle("deals", update);
    await client.query("deals");
    await client.updateBulk("deals", update);
    await client.query("deals");
    assertEquals(sent(script), [null, "a", "b,a"]);
  });

  it("sends those of updates that ran at the same time, and none that is gone [M8] [M11]", async () => {
    const script = scriptFetch(positioned("a"), positioned("b"), [410, {
      success: false,
      error: "Rowgate-Position: The write may have been lost",
    }], [200, PAGE]);
    const client = createClient({ ...at, ...script });
    const update = { filters: { fid: 1 }, fields: { title: "x" } };
    await Promise.all([client.updateSingle("deals", update), client.updateSingle("deals", update)]);
    assertEquals(errorOf(await client.query("deals")).status, 410);
    assert((await client.query("deals")).success);
    assertEquals(sent(script), ["b,a", null]);
  });
});
