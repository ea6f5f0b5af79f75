// The client on tables with a changes feed, against a service: what it yields makes a copy equal to the table.
import { assert, assertEquals } from "@std/assert";
import { afterAll, beforeAll, describe, it } from "@std/testing/bdd";
import { type App, createApp } from "../../src/app.ts";
import { type Changes, openChanges } from "../../src/feeds/changes/changes.ts";
import { readConfig } from "../../src/server/config/config.ts";
import type { Sql } from "../../src/database/postgres/driver.ts";
import { createMetrics } from "../../src/server/telemetry/metrics.ts";
import { createTokenStore } from "../../src/access/tokens/store.ts";
import { createClient, isRowgateError, type Place } from "../../src/client/client.ts";
import { disableFeed, enableFeeds } from "../support/feeds.ts";
import { createTestService, type TestService } from "../support/service.ts";

type Row = { readonly [column: string]: unknown };

describe("the client and a changes feed", () => {
  let service: TestService;
  let admin: Sql;
  let app: App;
  let changes: Changes;
  /** Ends the streams that are open. */
  let cut = () => {};

  beforeAll(async () => {
    service = await createTestService("real");
    ({ admin } = service.database);
    await admin`create table notes_ (tenant_id int4 not null, id int4 primary key, note text)`;
    await admin`grant select on notes_ to rowgate_app`;
    await service.catalogue.current();
    await admin`insert into notes_ select 1, n, 'old' from generate_series(1, 5) n`;
    await admin`insert into notes_ values (2, 100, 'CANARY')`;
    await service.catalogue.refresh(await service.catalogue.current(), { reason: "test" });
    await enableFeeds(service, ["notes_"]);
    const { config } = readConfig({});
    const observe = () => {};
    const database = service.owner;
    changes = openChanges(database, { observe, tenantSetting: undefined });
    // The guarded service reads each response to its end, and a stream has none.
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
  afterAll(async () => {
    changes?.close();
    await service?.close();
  });

  const open = () =>
    createClient({
      url: "http://127.0.0.1",
      token: service.tokens.a,
      fetch: async (url, init) => {
        const response = await app(new Request(url, init));
        if (!response.body || !url.includes("/changes")) return response;
        const ending = new AbortController();
        cut = () => ending.abort();
        const body = response.body.pipeThrough(new TransformStream(), { signal: ending.signal });
        return new Response(body, response);
      },
    });

  it("polls by the feed, and says so: first all rows, then changes and deletions [CH8]", async () => {
    const controller = new AbortController();
    const copy = new Map<unknown, unknown>();
    let place: Place | undefined;
    let step = 0;
    for await (const batch of open().poll("notes_", {}, { signal: controller.signal })) {
      assertEquals(batch.exact, true);
      for (const { id, note } of batch.records) copy.set(id, note);
      for (const { id } of batch.deleted) copy.delete(id);
      place = JSON.parse(JSON.stringify(batch.place));
      if (step++ === 0) await admin`update notes_ set note = 'new' where id = 2`;
      else if (copy.has(3)) await admin`delete from notes_ where id = 3`;
      else controller.abort();
    }
    assertEquals([...copy], [[1, "old"], [2, "new"], [4, "old"], [5, "old"]]);
    await admin`insert into notes_ values (1, 6, 'late')`;
    for await (const batch of open().poll("notes_", {}, { from: place })) {
      assertEquals(batch.records.map(({ id }) => id), [6]);
      break;
    }
  });

  it("polls by time where filters or a time are given, and says that too", async () => {
    for await (const batch of open().poll("deals", {}, { by: "modified_at", everySeconds: 0.01 })) {
      assertEquals([batch.exact, batch.deleted], [false, []]);
      break;
    }
    const filters = { and: [{ field: "id", op: "gt", value: 0 }] };
    const refused = await open().poll("notes_", { filters }, {}).next().catch((error) => error);
    assert(isRowgateError(refused));
    assertEquals([refused.status, refused.path], [400, "by"]);
  });

  it("follows as a stream, and continues where the stream was cut off [CH15] [CH16]", async () => {
    const controller = new AbortController();
    const errors: number[] = [];
    const seen: string[] = [];
    const events = open().follow("notes_", {
      since: "now",
      signal: controller.signal,
      onError: ({ status }) => void errors.push(status),
    });
    let caughtUp = 0;
    for await (const event of events) {
      if (event.type !== "caught_up") {
        seen.push(`${event.type} ${event.key["id"]} ${(event.record as Row | null)?.["note"]}`);
      } else if (++caughtUp === 1) await admin`insert into notes_ values (1, 7, 'seven')`;
      else if (caughtUp === 2) {
        cut();
        await admin`delete from notes_ where id = 7`;
        await admin`update notes_ set note = 'after' where id = 1`;
      } else controller.abort();
    }
    assertEquals(seen.toSorted(), ["delete 7 undefined", "upsert 1 after", "upsert 7 seven"]);
    assertEquals(errors, [0]);
  });

  it("throws 410 when the feed has lost what follows, and 404 when there is no feed [CH12] [CH3]", async () => {
    const place = await readPlace();
    await disableFeed(service, "notes_");
    const without = await open().follow("notes_").next().catch((error) => error);
    assertEquals((without as { status: number }).status, 404);
    await enableFeeds(service, ["notes_"]);
    const poll = await open().poll("notes_", {}, { from: place }).next().catch((error) => error);
    assertEquals((poll as { status: number }).status, 410);
    const since = (place as { cursor: string }).cursor;
    const follow = await open().follow("notes_", { since }).next().catch((error) => error);
    assertEquals((follow as { status: number }).status, 410);
  });

  async function readPlace(): Promise<Place> {
    for await (const { place } of open().poll("notes_", {}, {})) return place;
    throw new Error("there are no rows");
  }
});
