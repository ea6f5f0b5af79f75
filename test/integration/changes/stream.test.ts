import { assertEquals, assertMatch } from "@std/assert";
import { after, before, describe, it } from "@std/testing/bdd";
import { createApp } from "../../../src/app.ts";
import { openChanges } from "../../../src/feeds/changes/changes.ts";
import { readConfig } from "../../../src/server/config/config.ts";
import { createMetrics } from "../../../src/server/telemetry/metrics.ts";
import { createTokenStore } from "../../../src/access/tokens/store.ts";
import { revokeToken } from "../../../src/access/tokens/manage.ts";
import { enableFeeds } from "../../support/feeds.ts";
import { createTestService, type TestService } from "../../support/service.ts";
import { settleSoon, waitUntil } from "../../support/wait_until.ts";

/** An event of a stream. */
interface Event {
  readonly type: string;
  readonly data: string;
  readonly id: string;
}

/** A stream that is being read. */
interface Stream {
  readonly response: Response;
  readonly events: Event[];
  /** The text so far. */
  readonly text: () => string;
  /** Settles when it has ended. */
  readonly ended: Promise<void>;
  readonly cancel: () => Promise<void>;
}

describe("streams of changes", () => {
  let service: TestService;
  let changes: ReturnType<typeof openChanges>;
  let app: ReturnType<typeof createApp>;
  let waiting = 0;
  const run = (text: string) => service.database.admin.unsafe(text);

  before(async () => {
    service = await createTestService("real");
    await enableFeeds(service, ["deals", "guests"]);
    const database = service.owner;
    const observe = (observation: { kind: string; clients?: number }) => {
      if (observation.kind === "changes_waiting") waiting = observation.clients!;
    };
    changes = openChanges(database, { observe, tenantSetting: undefined });
    const { config } = readConfig({ ROWGATE_CORS_ORIGINS: "https://a.example" });
    app = createApp({
      config: config!,
      database,
      catalogue: service.catalogue,
      tokens: createTokenStore(database),
      observe,
      metrics: createMetrics(),
      changes,
    });
  });
  after(() => service.close());

  async function open(
    search: string,
    { token = service.tokens.a, headers = {} }: {
      token?: string;
      headers?: Record<string, string>;
    } = {},
  ): Promise<Stream> {
    const response = await app(
      new Request(`http://127.0.0.1/integration/tables/deals/changes${search}`, {
        headers: {
          authorization: `Bearer ${token}`,
          accept: "text/event-stream",
          "accept-encoding": "gzip",
          ...headers,
        },
      }),
    );
    const reader = response.body!.getReader();
    const events: Event[] = [];
    let text = "";
    let last = "";
    const read = async () => {
      const decoder = new TextDecoder();
      for (let rest = "";;) {
        const { value, done } = await reader.read();
        if (done) return;
        rest += decoder.decode(value, { stream: true });
        const blocks = rest.split("\n\n");
        rest = blocks.pop()!;
        for (const block of blocks) {
          text += `${block}\n\n`;
          const lines = block.split("\n");
          const find = (name: string) =>
            lines.filter((line) => line.startsWith(`${name}: `))
              .map((line) => line.slice(name.length + 2)).join("\n");
          if (find("id") !== "") last = find("id");
          if (find("data") !== "") {
            events.push({ type: find("event"), data: find("data"), id: last });
          }
        }
      }
    };
    return { response, events, text: () => text, ended: read(), cancel: () => reader.cancel() };
  }

  const until = (condition: () => boolean) => waitUntil(() => Promise.resolve(condition()));

  it("give the rows, caught_up, and what changes [CH15]", async () => {
    const stream = await open("?limit=50", { headers: { origin: "https://a.example" } });
    const { headers } = stream.response;
    assertEquals(headers.get("content-type"), "text/event-stream");
    assertEquals(headers.get("content-encoding"), null);
    assertEquals(headers.get("access-control-allow-origin"), "https://a.example");
    await until(() => stream.events.some(({ type }) => type === "caught_up"));
    assertEquals(stream.events.filter(({ type }) => type === "upsert").length, 60);
    await run("update deals set title = E'two\\nlines' where fid = 1");
    await run("delete from deals where fid = 2");
    await until(() => stream.events.some(({ type }) => type === "delete"));
    const changed = stream.events.slice(61).filter(({ type }) => type !== "caught_up");
    assertEquals(changed.map(({ type, data }) => [type, JSON.parse(data).key]), [
      ["upsert", { fid: 1 }],
      ["delete", { fid: 2 }],
    ]);
    assertEquals(JSON.parse(changed[0]!.data).record.title, "two\nlines");
    await stream.cancel();
    await until(() => waiting === 0);
    // Another stream goes on where this one ended.
    await run("update deals set title = 'meanwhile' where fid = 3");
    const next = await open("?since=start", { headers: { "last-event-id": changed[1]!.id } });
    await until(() => next.events.length >= 2);
    assertEquals(JSON.parse(next.events[0]!.data).key, { fid: 3 });
    assertEquals(next.events[1]!.type, "caught_up");
    await next.cancel();
  });

  it("give the same JSON whatever line ends it is stored with [CH15] [FD12]", async () => {
    await run(`create table line_ends (id int4 primary key, tenant_id int4 not null, body json);
      grant select on line_ends to rowgate_app`);
    await waitUntil(async () => {
      const seen = await service.catalogue.current();
      await service.catalogue.refresh(seen, { reason: "test" });
      return (await service.catalogue.current()).tables.has("line_ends");
    });
    await enableFeeds(service, ["line_ends"]);
    const ends = { 1: "\\r", 2: "\\n", 3: "\\r\\n", 4: "\\r\\r\\n\\n" };
    for (const [id, end] of Object.entries(ends)) {
      await run(`insert into line_ends values (${id}, 1, E'{"a":${end}[1,${end}2]${end}}')`);
    }
    const response = await app(
      new Request("http://127.0.0.1/integration/tables/line_ends/changes", {
        headers: { authorization: `Bearer ${service.tokens.a}`, accept: "text/event-stream" },
      }),
    );
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    while (!text.includes("caught_up")) text += (await reader.read()).value;
    await reader.cancel();
    // By the rules of WHATWG: a line ends at CR, LF, or both.
    const events = text.split(/(?:\r\n|\r|\n){2}/)
      .filter((event) => event.includes("upsert"));
    const bodies = events.map((event) =>
      JSON.parse(
        event.split(/\r\n|\r|\n/).flatMap((line) => /^data: ?(.*)/.exec(line)?.[1] ?? []).join(
          "\n",
        ),
      ).record.body
    );
    assertEquals(bodies, Array.from({ length: 4 }, () => ({ a: [1, 2] })));
  });

  it("have a status like any other response [CH15] [CH11]", async () => {
    const wrong = await open("?since=nonsense");
    assertEquals([wrong.response.status, wrong.response.headers.get("content-type")], [
      400,
      "application/json; charset=utf-8",
    ]);
    await wrong.cancel();
  });

  it("end with an event when nothing complete can be given [CH16] [CH13]", async () => {
    const stream = await open("?since=now");
    await until(() => stream.events[0]?.type === "caught_up");
    await run("alter table deals add column later int4");
    await stream.ended;
    const last = stream.events.at(-1)!;
    assertEquals(last.type, "error");
    assertMatch(last.data, /begin again with since=start/);
  });

  it("end with their token [CH16]", async () => {
    const token = await service.issue({ name: "short" });
    const stream = await open("?since=now", { token });
    await until(() => waiting > 0);
    await revokeToken(service.owner, /^rg_([^_]+)_/.exec(token)![1]!);
    await settleSoon(stream.ended, 300);
  });

  it("say every 15 s that they are open, with the cursor to go on with [CH16]", async () => {
    const stream = await open("?since=now");
    await until(() => stream.text().split("id: ").length > 2);
    assertMatch(stream.text(), /"}\n\n: open\nid: [\w-]+\n\n$/);
    await stream.cancel();
  });

  it("end with the service [CH16]", async () => {
    const stream = await open("?since=now");
    await until(() => waiting > 0);
    changes.close();
    await stream.ended;
  });
});
