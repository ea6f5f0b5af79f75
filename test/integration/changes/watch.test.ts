import { assert, assertEquals } from "@std/assert";
import { after, before, describe, it } from "@std/testing/bdd";
import { openChanges } from "../../../src/feeds/changes/changes.ts";
import type { SqlText } from "../../../src/catalogue/catalogue.ts";
import { readConfig } from "../../../src/server/config/config.ts";
import { openDatabase } from "../../../src/database/postgres/open_database.ts";
import { planChanges } from "../../../src/records/plan/changes_plan.ts";
import type { Database } from "../../../src/database/postgres/database.ts";
import { revokeToken } from "../../../src/access/tokens/manage.ts";
import type { Access } from "../../../src/access/tokens/token.ts";
import { enableFeeds } from "../../support/feeds.ts";
import { createTestService, type TestService } from "../../support/service.ts";
import { settleSoon, waitUntil } from "../../support/wait_until.ts";
import { openReader, type Reader } from "./reader.ts";

describe("clients that wait for changes", () => {
  let service: TestService;
  let reader: Reader;
  const run = (text: string) => service.database.admin.unsafe(text);

  before(async () => {
    service = await createTestService("real");
    await enableFeeds(service, ["deals", "guests"]);
    reader = openReader(service);
  });
  after(() => service.close());

  it("are answered within a second of the commit, others are not [CH7] [CH9]", async () => {
    const { cursor } = await reader.read("deals", "now");
    const quiet = await reader.read("guests", "now");
    const startedMs = performance.now();
    const waiting = reader.ask("deals", cursor, "&wait=20");
    const other = reader.ask("guests", quiet.cursor, "&wait=2");
    await new Promise((resolve) => setTimeout(resolve, 700));
    await run("update deals set title = 'seen' where fid = 11");
    const { body } = await settleSoon(waiting, 50);
    assertEquals((body["changes"] as unknown[]).length, 1);
    const { body: none } = await other;
    assertEquals([none["changes"], none["more"]], [[], false]);
    assert(performance.now() - startedMs >= 1990, "it did not wait");
    assert(none["cursor"] !== quiet.cursor);
  });

  it("learn at once of changes that they missed, and of the end of their feed [CH7] [CH13]", async () => {
    const { cursor } = await reader.read("deals", "now");
    await run("update deals set title = 'missed' where fid = 12");
    const { body } = await settleSoon(reader.ask("deals", cursor, "&wait=30"), 100);
    assertEquals((body["changes"] as unknown[]).length, 1);
    const waiting = reader.ask("deals", String(body["cursor"]), "&wait=30");
    await new Promise((resolve) => setTimeout(resolve, 300));
    await run("alter table deals add column more int4");
    assertEquals((await settleSoon(waiting, 100)).status, 410);
  });

  it("cost the database no more when there are a thousand of them than when there is one [CH9] [CH17] [FD8]", async () => {
    let statements = 0;
    const counting: Database = {
      ...service.owner,
      run: (compile, options) => {
        statements++;
        return service.owner.run(compile, options);
      },
    };
    const changes = openChanges(counting, { observe: () => {}, tenantSetting: undefined });
    const { tables } = await service.catalogue.current();
    const table = tables.get("deals")!;
    const planOf = (tenant: string) =>
      planChanges({ fields: [], limit: 10 }, { table, access: { tenant } as never });
    const { position } = await changes.read(planOf("1"), "now");
    statements = 0;
    const timers = countTimers();
    const untilMs = performance.now() + 6000;
    const waits = Array.from({ length: 1000 }, (_, n) => {
      const plan = planOf(String(1 + n % 100));
      return changes.wait({ plan, position, untilMs });
    });
    await new Promise((resolve) => setTimeout(resolve, 1000));
    await run("update deals set title = 'one of many' where fid = 13");
    const waited = await Promise.all(waits).finally(timers.stop);
    assertEquals(waited.filter(({ kind }) => kind === "changed").length, 10);
    assertEquals(waited.filter(({ kind }) => kind === "idle").length, 990);
    assert(statements <= 40, `${statements} statements in six seconds`);
    // One for each look, and what the driver needs for its statements.
    assert(timers.count() <= 10 * statements, `${timers.count()} timers`);
    const plan = planOf("1");
    const tokenId = /^rg_([^_]+)_/.exec(service.tokens.a)![1]!;
    const access: Access = {
      ...{ tokenId, name: "a", tenant: "1", scopes: ["query", "update"] },
      ...{ tables: null, expiresAt: null },
    };
    const many = Array.from(
      { length: 101 },
      () => Promise.resolve().then(() => changes.wait({ plan, position, untilMs: 0, access })),
    );
    const settled = await Promise.allSettled(many);
    const rejected = settled.filter(({ status }) => status === "rejected");
    assertEquals(rejected.map((one) => (one as PromiseRejectedResult).reason.status), [429]);
    changes.close();
  });

  it("go on when the role may no longer use the schema of another client's table [FD13]", async () => {
    await run("create schema closed; create table closed.things (id int4 primary key)");
    const { config } = readConfig({ DATABASE_URL: service.database.servingUrl! });
    const database = openDatabase(config!, () => {});
    const changes = openChanges(database, { observe: () => {}, tenantSetting: undefined });
    try {
      const { tables } = await service.catalogue.current();
      const table = tables.get("deals")!;
      const plan = planChanges({ fields: [], limit: 10 }, {
        table,
        access: { tenant: "1" } as never,
      });
      const { position } = await changes.read(plan, "now");
      const stored = { schema: "closed", name: "things", policyKey: "things" };
      const identifier = '"closed"."things"' as SqlText;
      const closed = { ...plan, table: { ...table, stored, identifier } };
      const untilMs = performance.now() + 30_000;
      const other = changes.wait({ plan: closed, position: { ...position, feed: 1 }, untilMs });
      const waiting = changes.wait({ plan, position, untilMs });
      await run("update deals set title = 'not theirs' where fid = 14");
      assertEquals([(await other).kind, (await waiting).kind], ["changed", "changed"]);
    } finally {
      changes.close();
      await database.close(1000);
    }
  });

  it("are answered 401 when their token is revoked [CH16]", async () => {
    const token = await service.issue({ name: "short" });
    const id = /^rg_([^_]+)_/.exec(token)![1]!;
    const path = "/integration/tables/guests/changes";
    const { body } = await service.send("GET", `${path}?since=now`, { token });
    const waiting = service.send("GET", `${path}?since=${body["cursor"]}&wait=30`, { token });
    await new Promise((resolve) => setTimeout(resolve, 300));
    await revokeToken(service.owner, id);
    assertEquals((await settleSoon(waiting, 300)).status, 401);
  });

  it("take no place of other requests [CH17]", async () => {
    const tight = await createTestService("real", { environment: { ROWGATE_MAX_IN_FLIGHT: "1" } });
    await enableFeeds(tight, ["guests"]);
    const own = openReader(tight);
    const first = await own.read("guests", "now");
    const waiting: Promise<unknown>[] = [];
    for (let clients = 1; clients <= 5; clients++) {
      waiting.push(own.ask("guests", first.cursor, "&wait=4"));
      await waitUntil(() => {
        const found = tight.observations.findLast(({ kind }) => kind === "changes_waiting");
        return Promise.resolve(found?.kind === "changes_waiting" && found.clients === clients);
      });
    }
    assertEquals((await own.ask("guests", first.cursor)).status, 200);
    await Promise.all(waiting);
    await tight.close();
  });
});

/** Counts the timers that are started until it is stopped. */
function countTimers(): { readonly count: () => number; readonly stop: () => void } {
  const start = globalThis.setTimeout;
  let count = 0;
  globalThis.setTimeout = ((...timer: Parameters<typeof start>) => {
    count++;
    return start(...timer);
  }) as typeof start;
  return { count: () => count, stop: () => void (globalThis.setTimeout = start) };
}
