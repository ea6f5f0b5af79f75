import { assert, assertEquals } from "@std/assert";
import { after, before, describe, it } from "@std/testing/bdd";
import { createApp } from "../../../src/app.ts";
import { openChanges } from "../../../src/feeds/changes/changes.ts";
import { readConfig } from "../../../src/server/config/config.ts";
import { planChanges } from "../../../src/records/plan/changes_plan.ts";
import type { Database } from "../../../src/database/postgres/database.ts";
import { openDatabase } from "../../../src/database/postgres/open_database.ts";
import { createMetrics } from "../../../src/server/telemetry/metrics.ts";
import { createTokenStore } from "../../../src/access/tokens/store.ts";
import { enableFeeds } from "../../support/feeds.ts";
import { createTestService, type TestService } from "../../support/service.ts";
import { waitUntil } from "../../support/wait_until.ts";

const CLIENTS = 60;
const PATH = "http://127.0.0.1/integration/tables/deals/changes";

describe("clients that one commit wakes", () => {
  let service: TestService;
  const run = (text: string) => service.database.admin.unsafe(text);

  before(async () => {
    service = await createTestService("real");
    await enableFeeds(service, ["deals"]);
  });
  after(() => service.close());

  /** Opens a stream, and reads it until it ends. */
  async function openStream({ app }: Subject) {
    const headers = { authorization: `Bearer ${service.tokens.a}`, accept: "text/event-stream" };
    const response = await app(new Request(`${PATH}?since=now`, { headers }));
    assertEquals(response.status, 200);
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    const stream = { text: "", isOpen: true, cancel: () => reader.cancel() };
    void (async () => {
      for (;;) {
        const { value, done } = await reader.read();
        if (done) break;
        stream.text += value;
      }
      stream.isOpen = false;
    })();
    await waitUntil(() => stream.text.includes("event: caught_up"));
    return stream;
  }

  it("share the statement that reads a page, and are served a few at a time [CH24]", async () => {
    let running = 0;
    let most = 0;
    let statements = 0;
    const counting: Database = {
      ...service.owner,
      async run(compile, options) {
        statements++;
        most = Math.max(most, ++running);
        try {
          return await service.owner.run(compile, options);
        } finally {
          running--;
        }
      },
    };
    const changes = openChanges(counting, { observe: () => {}, tenantSetting: undefined });
    const table = (await service.catalogue.current()).tables.get("deals")!;
    const planOf = (tenant: string, limit: number) =>
      planChanges({ fields: [], limit }, { table, access: { tenant } as never });
    const { position: since } = await changes.read(planOf("1", 1), "now");
    await run("update deals set title = 'for all' where fid = 1");
    statements = most = 0;
    const client = { signal: new AbortController().signal };
    const room = { hold: () => true };
    // Weeks after the process has started.
    const untilMs = 2_000_000_000;
    const pages = await Promise.all(Array.from({ length: 1000 }, (_, n) => {
      const plan = planOf("1", n % 2 === 0 ? 10 : 20);
      return changes.readInTurn({ plan, since, room, client, untilMs });
    }));
    assertEquals(pages.filter((page) => page?.changes.length === 1).length, 1000);
    // Two are begun at once, for the first clients alone.
    assert(statements <= 4, `${statements} statements`);
    assertEquals(most, 2);
    changes.close();
  });

  it("are served or wait on while the pool is busy, and no stream ends [CH24] [FD14]", async () => {
    const subject = openSubject(service, {
      ROWGATE_MAX_IN_FLIGHT: "10",
      ROWGATE_POOL_SIZE: "2",
      ROWGATE_POOL_WAIT_MS: "200",
    });
    const ask = async (search: string, token = service.tokens.a) => {
      const headers = { authorization: `Bearer ${token}` };
      const response = await subject.app(new Request(`${PATH}${search}`, { headers }));
      return { status: response.status, body: await response.json() };
    };
    const { body: { cursor } } = await ask("?since=now");
    const streams: Awaited<ReturnType<typeof openStream>>[] = [];
    for (let n = 0; n < 3; n++) streams.push(await openStream(subject));
    const polls: ReturnType<typeof ask>[] = [];
    for (let n = 1; n <= CLIENTS; n++) {
      polls.push(ask(`?since=${cursor}&wait=60`));
      await waitUntil(() => subject.waiting() >= n + streams.length);
    }
    const hurried = ask(`?since=${cursor}&wait=2`);
    await waitUntil(() => subject.waiting() > CLIENTS + streams.length);
    const blocked: Promise<unknown>[] = [];
    await service.database.admin.begin(async (transaction) => {
      await transaction.unsafe("lock table guests in access exclusive mode");
      for (const token of [service.tokens.a, service.tokens.b]) {
        const headers = {
          authorization: `Bearer ${token}`,
          "content-type": "application/json",
        };
        const path = "http://127.0.0.1/integration/tables/guests/query";
        blocked.push(subject.app(new Request(path, { method: "POST", headers, body: "{}" })));
      }
      await waitUntil(async () => {
        const [row] = await run(`select count(*)::int4 from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock'`);
        return row!["count"] === 2;
      });
      await run("update deals set title = 'for each' where fid = 3");
      const { status, body } = await hurried;
      assertEquals([status, body.changes, body.more], [200, [], false]);
    });
    await Promise.all(blocked);
    const answers = await Promise.all(polls);
    assertEquals(answers.map(({ status }) => status), answers.map(() => 200));
    for (const { body } of answers) assertEquals(body.changes.length, 1);
    await waitUntil(() => streams.every(({ text }) => text.includes('"key":{"fid":3}')));
    assertEquals(streams.map(({ isOpen }) => isOpen), [true, true, true]);
    assertEquals((await ask("?since=now", service.tokens.b)).status, 200);
    for (const stream of streams) await stream.cancel();
    await subject.close();
  });
});

describe("streams that are not read", () => {
  it("hold half of ROWGATE_MAX_UNSENT_BYTES for a tenant, and others are served [FD15] [L14]", async () => {
    const service = await createTestService("real");
    const subject = openSubject(service, { ROWGATE_MAX_UNSENT_BYTES: "4000000" });
    try {
      await enableFeeds(service, ["guests"]);
      for (const tenant of [1, 2]) {
        await service.database.admin`
          insert into guests values (${900 + tenant}, ${tenant}, ${"x".repeat(700_000)})`;
      }
      const open = (token: string) =>
        subject.app(
          new Request("http://127.0.0.1/integration/tables/guests/changes?limit=1000", {
            headers: { authorization: `Bearer ${token}`, accept: "text/event-stream" },
          }),
        );
      const { a, b } = service.tokens;
      const streams: Response[] = [];
      for (let n = 0; n < 20; n++) streams.push(await open(a));
      const accepted = streams.filter(({ status }) => status === 200);
      assertEquals(accepted.length, 2);
      for (const stream of streams) {
        if (stream.status === 200) continue;
        assertEquals([stream.status, stream.headers.get("retry-after")], [503, "1"]);
        await stream.body!.cancel();
      }
      const others = await open(b);
      assertEquals(others.status, 200);
      await others.body!.cancel();
      for (const stream of accepted) await stream.body!.cancel();
      const again = await open(a);
      assertEquals(again.status, 200);
      await again.body!.cancel();
    } finally {
      await subject.close();
      await service.close();
    }
  });
});

type Subject = ReturnType<typeof openSubject>;

/** Opens a handler that may answer before all is known, with feeds of its own. */
function openSubject(
  { database: { servingUrl }, catalogue }: TestService,
  environment: Record<string, string>,
) {
  let waiting = 0;
  const observe = (observation: { kind: string; clients?: number }) => {
    if (observation.kind === "changes_waiting") waiting = observation.clients!;
  };
  const { config } = readConfig({ DATABASE_URL: servingUrl!, ...environment });
  const database = openDatabase(config!, observe);
  const changes = openChanges(database, { observe, tenantSetting: undefined });
  const app = createApp({
    ...{ config: config!, database, catalogue, tokens: createTokenStore(database) },
    ...{ observe, metrics: createMetrics(), changes },
  });
  const close = async () => {
    changes.close();
    await database.close(1000);
  };
  return { app, waiting: () => waiting, close };
}
