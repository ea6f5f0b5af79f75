// What a token may do changes while something long is under way: it must end within 5 s.
import { assert, assertEquals, assertMatch } from "@std/assert";
import { after, before, describe, it } from "@std/testing/bdd";
import { createApp } from "../../../src/app.ts";
import { openChanges } from "../../../src/feeds/changes/changes.ts";
import { readConfig } from "../../../src/server/config/config.ts";
import type { Database } from "../../../src/database/postgres/database.ts";
import { openDatabase } from "../../../src/database/postgres/open_database.ts";
import { createMetrics } from "../../../src/server/telemetry/metrics.ts";
import { createTokenStore } from "../../../src/access/tokens/store.ts";
import { enableFeeds } from "../../support/feeds.ts";
import { createTestService, type TestService } from "../../support/service.ts";
import { waitUntil } from "../../support/wait_until.ts";

/** What happens to a token, and the status of a poll that waits meanwhile. */
const CHANGES: readonly (readonly [name: string, assignment: string, status: number])[] = [
  ["moved to another tenant", "tenant = '2'", 400],
  ["left without the scope query", "scopes = '{update}'", 403],
  ["left without the table", "tables = '{guests}'", 404],
  ["expired", "expires_at = clock_timestamp()", 401],
  ["revoked", "revoked_at = clock_timestamp()", 401],
];

/** Longer than a look-up of a token is kept. */
const KEPT_MS = 5500;
/** Between two reads of a slow client. */
const PAUSE_MS = 300;

describe("a token that changes while something long is under way", () => {
  let service: TestService;
  let app: ReturnType<typeof createApp>;
  let serving: Database;

  before(async () => {
    service = await createTestService("real");
    const { catalogue } = service;
    // Large pages wait for one another on a busy machine.
    const { config } = readConfig({
      DATABASE_URL: service.database.url!,
      ROWGATE_POOL_WAIT_MS: "30000",
    });
    serving = openDatabase(config!, () => {});
    const tokens = createTokenStore(serving);
    const observe = () => {};
    const { confirm: confirmed } = tokens;
    const changes = openChanges(serving, {
      ...{ observe, tenantSetting: undefined },
      ...(confirmed && { confirmed }),
    });
    // The handler of a test service reads each response to its end.
    app = createApp({
      ...{ config: config!, database: serving, catalogue, tokens, observe, changes },
      metrics: createMetrics(),
    });
    await enableFeeds(service, ["deals"]);
    // A page of several megabytes, and rows for a page of one row each.
    await service.database.admin`update deals set title = repeat('x', 30000)`;
  });
  after(async () => {
    await serving?.close(1000);
    await service?.close();
  });

  const change = (token: string, assignment: string) =>
    service.database.admin.unsafe(
      `update rowgate.tokens set ${assignment} where id = '${token.split("_")[1]}'`,
    );

  function ask(token: string, path: string, init: RequestInit = {}): Promise<Response> {
    const headers = { authorization: `Bearer ${token}`, ...init.headers };
    return app(new Request(`http://127.0.0.1/integration/tables/${path}`, { ...init, headers }));
  }

  const stream = (token: string, search: string) =>
    ask(token, `deals/changes${search}`, { headers: { accept: "text/event-stream" } });

  /** Reads slowly until it ends or breaks off; returns the text. */
  async function readSlowly(response: Response, begun: () => Promise<unknown>): Promise<string> {
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    try {
      for (let chunks = 1;; chunks++) {
        const { value, done } = await reader.read();
        if (done) return text;
        text += value;
        if (chunks === 2) await begun();
        await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
      }
    } catch {
      return text;
    }
  }

  for (const limit of [1, 1000]) {
    const where = limit === 1 ? "between its pages" : "inside of a page";
    it(`a stream with more to give ends ${where} [A29] [CH16] [FD11]`, async () => {
      await Promise.all(CHANGES.map(async ([name, assignment]) => {
        const token = await service.issue();
        const response = await stream(token, `?limit=${limit}`);
        const text = await readSlowly(response, () => change(token, assignment));
        assertMatch(text, /event: upsert/);
        assert(!text.includes("event: caught_up"), `${name}: it went on to the end`);
      }));
    });
  }

  it("a poll that waits gets what the token may have now [A29] [CH16] [FD11]", async () => {
    const waits = CHANGES.map(async ([name, assignment, expected]) => {
      const token = await service.issue();
      const { cursor } = await (await ask(token, "deals/changes?since=now&fields=fid")).json();
      const waiting = ask(token, `deals/changes?since=${cursor}&wait=60`);
      await change(token, assignment);
      const response = await waiting;
      await response.body?.cancel();
      assertEquals([name, response.status], [name, expected]);
    });
    await Promise.all(waits);
  });

  it("a stream that waits ends, and gives nothing that is changed after that [A29] [CH16] [FD11]", async () => {
    const reads = CHANGES.map(async ([, assignment]) => {
      const token = await service.issue();
      const response = await stream(token, "?since=now&fields=fid");
      return { response, changed: () => change(token, assignment) };
    });
    const streams = await Promise.all(reads);
    const texts = Promise.all(
      streams.map(({ response, changed }) => readSlowly(response, changed)),
    );
    await service.database.admin`update deals set closed = not closed where fid = 1`;
    for (const text of await texts) assertEquals(text.split("event: upsert").length, 2);
  });

  it("other requests of the token have its new rights while its stream is open [A29] [FD11]", async () => {
    const token = await service.issue();
    const response = await stream(token, "?since=now");
    await change(token, "tenant = '2'");
    await waitUntil(async () => {
      const queried = await ask(token, "deals/query", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: '{"select":["tenant_id"]}',
      });
      const { records } = await queried.json();
      return records.every((record: { tenant_id: number }) => record.tenant_id === 2);
    });
    await readSlowly(response, () => Promise.resolve());
  });

  it("an export is cut off [A29] [EX20] [FD11]", async () => {
    for (const [name, assignment] of CHANGES.slice(0, 2)) {
      const token = await service.issue();
      const response = await ask(token, "deals/query", {
        method: "POST",
        headers: { "content-type": "application/json", accept: "application/x-ndjson" },
        body: "{}",
      });
      assertEquals(response.status, 200);
      const text = await readSlowly(response, () => change(token, assignment));
      assert(text.split("\n").length < 61, name);
    }
  });

  it("a body that arrives slowly is the request of the tenant that the token has by then [A29] [FD11]", async () => {
    const token = await service.issue();
    let finish = () => {};
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        const encoder = new TextEncoder();
        controller.enqueue(encoder.encode('{"filters":{"fid":3},'));
        finish = () => {
          controller.enqueue(encoder.encode('"fields":{"title":"late"}}'));
          controller.close();
        };
      },
    });
    const answered = ask(token, "deals/records/bulk", {
      method: "PATCH",
      headers: { "content-type": "application/json" },
      body,
      duplex: "half",
    } as RequestInit);
    await change(token, "tenant = '2'");
    await new Promise((resolve) => setTimeout(resolve, KEPT_MS));
    finish();
    assertEquals((await answered).status, 200);
    const written = await service.database.admin`
      select distinct tenant_id from deals where title = 'late'`;
    assert(
      !written.some(({ tenant_id }) => tenant_id === 1),
      "a row of the old tenant was written",
    );
  });
});
