// Feeds of tables of which clients see only some rows.
import { assertEquals, assertMatch } from "@std/assert";
import { after, before, describe, it } from "@std/testing/bdd";
import { findTarget } from "../../../src/feeds/changes/find_feeds.ts";
import { enableFeed } from "../../../src/feeds/changes/manage_feeds.ts";
import { applyChanges, type Change, type Copy, enableFeeds } from "../../support/feeds.ts";
import { createTestService, type TestService } from "../../support/service.ts";
import { openReader, type Reader } from "./reader.ts";

const filtered = (op: string, value: unknown) => ({
  tables: Object.fromEntries(
    ["plots", "days"].map((name) => [name, { only: { and: [{ field: "state", op, value }] } }]),
  ),
});

const SCHEMA = `
  create table plots (id int4 primary key, tenant_id int4 not null, state text, name text);
  create table days (id int4, tenant_id int4 not null, day date, state text, primary key (id, day))
    partition by range (day);
  create table days_1 partition of days for values from ('2026-01-01') to ('2026-02-01');
  insert into plots select n, 1 + n % 2, case when n % 3 = 0 then 'draft' else 'live' end, 'plot'
    from generate_series(1, 300) n;
  grant select, update on plots, days to rowgate_app`;

describe("the feed of a table with a row filter", () => {
  let service: TestService;
  let reader: Reader;
  const run = (text: string) => service.database.admin.unsafe(text);

  before(async () => {
    service = await createTestService("real", { policy: filtered("eq", "live") });
    await run(SCHEMA);
    const tables = async () => (await service.catalogue.current()).tables;
    while (!(await tables()).has("days")) {
      await service.catalogue.refresh(await service.catalogue.current(), { reason: "test" });
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    await enableFeeds(service, ["plots", "days"]);
    reader = openReader(service);
  });
  after(() => service.close());

  /** Runs statements one after another, and gives what the feed says of each. */
  async function tell(table: string, statements: readonly string[]): Promise<string[]> {
    const told: string[] = [];
    let { cursor } = await reader.read(table, "now");
    for (const statement of statements) {
      await run(statement);
      const page = await reader.read(table, cursor);
      cursor = page.cursor;
      told.push(page.changes.map(({ type, key }) => `${type} ${key["id"]}`).join(", "));
    }
    return told;
  }

  it("never names a row that was never visible, and deletes one that leaves the filter [CH25] [FD17]", async () => {
    const told = await tell("plots", [
      "insert into plots values (1001, 1, 'draft', 'new')",
      "update plots set name = 'still out of sight' where id = 1001",
      "update plots set state = 'live' where id = 1001",
      "update plots set name = 'seen' where id = 1001",
      "update plots set state = 'draft' where id = 1001",
      "update plots set name = 'out of sight again' where id = 1001",
      "delete from plots where id = 1001",
      "insert into plots values (1002, 1, 'live', 'new')",
      "update plots set state = 'draft' where id = 1002; update plots set name = 'x' where id = 1002",
      "insert into plots values (1003, 1, null, 'new'), (1004, 1, 'live', 'new')",
      "update plots set tenant_id = 2 where id in (1003, 1004)",
      "update plots set tenant_id = 1, state = 'draft' where id in (1003, 1004)",
      "update plots set id = id + 100 where id in (1003, 1004)",
      "update plots set state = 'live', id = id + 100 where id = 1104",
      "delete from plots where id > 1000",
    ]);
    assertEquals(told, [
      ...["", "", "upsert 1001", "upsert 1001", "delete 1001", "", ""],
      ...["upsert 1002", "delete 1002", "upsert 1004", "delete 1004", "", ""],
      ...["upsert 1204", "delete 1204"],
    ]);
  });

  it("does so for rows of partitions, also of one that was added later [CH25] [FD17]", async () => {
    const told = await tell("days", [
      "insert into days values (1, 1, '2026-01-05', 'draft'), (2, 1, '2026-01-05', 'live')",
      "update days_1 set state = 'other'",
      "update days set state = 'other'",
      "delete from days",
    ]);
    assertEquals(told, ["upsert 2", "delete 2", "", ""]);
    await run(
      "create table days_2 partition of days for values from ('2026-02-01') to ('2026-03-01')",
    );
    const later = await tell("days", [
      "insert into days values (3, 1, '2026-02-05', 'draft'), (4, 1, '2026-02-05', 'live')",
      "update days set state = 'draft'",
      "delete from days",
    ]);
    assertEquals(later, ["upsert 4", "delete 4", ""]);
  });

  it("gives a copy that equals what clients see, in pages beside writers [CH10] [CH25]", async () => {
    const copy: Copy = new Map();
    let since = "start";
    for (let round = 0, more = true; more || round < 12; round++) {
      const { body } = await reader.ask("plots", since, "&limit=25");
      applyChanges(copy, body["changes"] as Change[]);
      ({ cursor: since, more } = body as unknown as { cursor: string; more: boolean });
      if (round >= 12) continue;
      await run(
        `update plots set state = case when (id + ${round}) % 4 < 2 then 'draft' else 'live' end
        where id % 5 = ${round % 5}`,
      );
      await run(`delete from plots where id = ${round * 7 + 1}`);
    }
    const rows = await run(
      "select id from plots where tenant_id = 1 and state = 'live' order by id",
    );
    assertEquals(
      [...copy.values()].map(({ id }) => id as number).sort((one, other) => one - other),
      rows.map(({ id }) => id),
    );
  });

  it("is 410 for a cursor of another filter [CH13] [FD18]", async () => {
    const { cursor } = await reader.read("plots", "now");
    const { database } = service;
    const other = await createTestService("real", { database, policy: filtered("neq", "live") });
    try {
      const { status, text } = await other.send(
        "GET",
        `/integration/tables/plots/changes?since=${cursor}`,
      );
      assertEquals(status, 410, text);
      assertMatch(text, /begin again with since=start/);
    } finally {
      await other.close();
    }
  });

  it("is incomplete where it was enabled by an earlier version, until it is enabled again [CH25] [CH3]", async () => {
    const { tables } = await service.catalogue.current();
    const { target } = await findTarget(service.owner, tables.get("plots")!);
    await enableFeed(service.owner, { ...target, table: { ...target.table, images: [] } });
    const ask = async () => (await reader.ask("plots", "now")).status;
    while (await ask() === 200) await new Promise((resolve) => setTimeout(resolve, 100));
    assertEquals(await ask(), 404);
    await enableFeeds(service, ["plots"]);
    assertEquals(await ask(), 200);
  });
});
