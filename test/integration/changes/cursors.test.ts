import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { after, before, describe, it } from "@std/testing/bdd";
import { keepChanges } from "../../../src/feeds/changes/retention.ts";
import type { Observation } from "../../../src/server/telemetry/observe.ts";
import { enableFeeds } from "../../support/feeds.ts";
import { createTestService, type TestService } from "../../support/service.ts";
import { waitUntil } from "../../support/wait_until.ts";
import { openReader, type Reader } from "./reader.ts";

describe("cursors of the changes feed", () => {
  let service: TestService;
  let reader: Reader;
  const run = (text: string) => service.database.admin.unsafe(text);

  before(async () => {
    service = await createTestService("real");
    await enableFeeds(service, ["deals", "guests"]);
    reader = openReader(service);
  });
  after(() => service.close());

  /** Prunes until so many entries are left: transactions of other tests may be older for a while. */
  async function prune(days: number, left: number): Promise<void> {
    await waitUntil(async () => {
      await pruneOnce(days);
      return (await run("select from rowgate.changes")).length === left;
    });
  }

  async function pruneOnce(days: number): Promise<void> {
    const observed: Observation[] = [];
    const observe = (observation: Observation) => void observed.push(observation);
    const kept = keepChanges(service.owner, { days, observe, firstMs: 0 });
    await waitUntil(() => Promise.resolve(observed.some(({ kind }) => kind === "changes_log")));
    kept.close();
  }

  /**
   * Waits until every transaction up to the newest entry's has ended. A cursor that was given while another
   * test's transaction ran needs that transaction's entries too, and expires with its number.
   */
  async function settle(): Promise<void> {
    await waitUntil(async () =>
      (await run(`select from rowgate.changes
        where xid >= pg_snapshot_xmin(pg_current_snapshot())`)).length === 0
    );
  }

  it("are 410 when the entries that they need were deleted, and only then [CH12] [CH19] [FD5]", async () => {
    const old = await reader.read("deals", "now");
    await run("update deals set title = 'x' where fid < 5");
    await run("update rowgate.changes set at = at - interval '8 days'");
    await settle();
    const fresh = await reader.read("deals", old.cursor);
    assertEquals(fresh.changes.length, 4);
    await run("update deals set title = 'y' where fid < 3");
    await prune(7, 1);
    const { status, body } = await reader.ask("deals", old.cursor);
    assertEquals(status, 410);
    assertStringIncludes(
      String(body["error"]),
      "since: It is older than the changes that are kept",
    );
    assertStringIncludes(String(body["error"]), "begin again with since=start");
    const next = await reader.read("deals", fresh.cursor);
    assertEquals(next.changes.length, 2);
    // A cursor of a table in which nothing happens outlives what others are deleted of.
    const quiet = await reader.read("guests", "now");
    await run("update deals set title = 'w' where fid = 40");
    await settle();
    const busy = await reader.read("deals", next.cursor);
    await prune(0, 0);
    assertEquals((await reader.ask("guests", quiet.cursor)).status, 410);
    const quieter = await reader.read("guests", "now");
    await prune(0, 0);
    assertEquals((await reader.read("guests", quieter.cursor)).changes, []);
    assertEquals((await reader.read("deals", busy.cursor)).changes, []);
  });

  it("keep what a running transaction may still need [CH19] [CH10]", async () => {
    const { cursor } = await reader.read("deals", "now");
    let commit = () => {};
    const held = new Promise<void>((resolve) => commit = resolve);
    const writing = service.database.admin.begin(async (sql) => {
      await sql`update deals set title = 'held' where fid = 7`;
      await held;
    });
    await waitUntil(async () =>
      (await run(`select from pg_stat_activity where state = 'idle in transaction'
        and datname = current_database() and backend_xid is not null`)).length > 0
    );
    await run("update deals set title = 'before' where fid = 8");
    const first = await reader.read("deals", cursor);
    assertEquals(first.changes.map(({ key }) => key), [{ fid: 8 }]);
    await pruneOnce(0);
    assertEquals((await run("select from rowgate.changes where tenant = '1'")).length, 1);
    commit();
    await writing;
    const second = await reader.read("deals", first.cursor);
    assertEquals(second.changes.map(({ key }) => key), [{ fid: 7 }]);
  });

  it("come with metrics of the log and of the transactions that keep its entries [CH22]", async () => {
    await run("update deals set title = 'old' where fid = 20");
    await run("update rowgate.changes set at = at - interval '1 hour'");
    await run("analyze rowgate.changes");
    const measured: Extract<Observation, { kind: "changes_log" }>[] = [];
    const observe = (observation: Observation) => {
      if (observation.kind === "changes_log") measured.push(observation);
    };
    // A thousand times as fast as time passes.
    const now = () => performance.now() * 1000;
    const kept = keepChanges(service.owner, { days: 7, observe, firstMs: 0, everyMs: 20, now });
    const seen = (condition: (last: typeof measured[number]) => boolean) =>
      waitUntil(() => Promise.resolve(measured.length > 0 && condition(measured.at(-1)!)));
    await seen(({ entries, oldestSeconds }) => entries >= 1 && oldestSeconds >= 3600);
    let commit = () => {};
    const held = new Promise<void>((resolve) => commit = resolve);
    const writing = service.database.admin.begin(async (sql) => {
      await sql`update deals set title = 'held' where fid = 21`;
      await held;
    });
    await seen(({ transactionSeconds }) => transactionSeconds > 300);
    commit();
    await writing;
    await seen(({ transactionSeconds }) => transactionSeconds < 300);
    kept.close();
  });

  it("can be pruned while a writer holds entries, and a writer never waits for that [CH19]", async () => {
    await run("update deals set title = 'past' where fid = 22");
    await run("update rowgate.changes set at = at - interval '8 days'");
    let end = () => {};
    const held = new Promise<void>((resolve) => end = resolve);
    let begun = (_: unknown) => {};
    const deleting = new Promise((resolve) => begun = resolve);
    // A batch that takes long: its transaction stays open.
    const pruning = service.database.admin.begin(async (sql) => {
      let deleted = 0;
      await waitUntil(async () => {
        const [row] = await sql`select rowgate.prune_changes(7, 5000)::int4 as deleted`;
        deleted = row!["deleted"];
        return deleted > 0;
      });
      begun(
        await sql`select distinct mode from pg_locks where pid = pg_backend_pid()
        and relation = 'rowgate.changes'::regclass order by 1`,
      );
      await held;
    });
    const modes = await deleting as { mode: string }[];
    assertEquals(modes.map(({ mode }) => mode), ["AccessShareLock", "RowExclusiveLock"]);
    const { cursor } = await reader.read("deals", "now");
    await service.database.admin.begin(async (sql) => {
      await sql`set local lock_timeout = '1s'`;
      await sql`update deals set title = 'meanwhile' where fid in (22, 23)`;
      await sql`delete from deals where fid = 24`;
    });
    assertEquals((await reader.read("deals", cursor)).changes.length, 3);
    // Another instance leaves it to the one that is at it.
    const [other] = await run("select rowgate.prune_changes(7, 5000)::int4 as deleted");
    assertEquals(other!["deleted"], 0);
    end();
    await pruning;
  });

  it("are 410 after a change of columns [CH13]", async () => {
    const { cursor } = await reader.read("guests", "now");
    await run("alter table guests alter column name type varchar(50)");
    const { status, body } = await reader.ask("guests", cursor);
    assertEquals(status, 410);
    assertStringIncludes(String(body["error"]), "The table was altered");
  });

  it("are 400 in another database with the same table and tenant names [CH11]", async () => {
    const { cursor } = await reader.read("deals", "now");
    const other = await createTestService("real");
    try {
      await enableFeeds(other, ["deals"]);
      const { status, body } = await openReader(other).ask("deals", cursor);
      assertEquals(status, 400);
      assertStringIncludes(String(body["error"]), "since: ");
    } finally {
      await other.close();
    }
  });

  it("are 410 when an entry that they refer to has changed [CH13]", async () => {
    await run("update deals set title = 'z' where fid = 9");
    const { cursor } = await reader.read("deals", "now");
    await run("update rowgate.changes set at = at - interval '1 microsecond'");
    const { status, body } = await reader.ask("deals", cursor);
    assertEquals(status, 410);
    assertStringIncludes(String(body["error"]), "The database was restored");
  });

  it("stay short with hundreds of transactions that are running [CH11]", async () => {
    const { printFeedPosition } = await import("../../../src/feeds/changes/position.ts");
    const running = Array.from({ length: 300 }, (_, place) => String(9_000_000_000 + 7 * place));
    const snapshot = { next: "9000009999", running };
    const position = {
      feed: 2_000_000_000,
      shape: "0123456789abcdef",
      life: "7711857633674104408.00000001.5",
      wal: "123456789012345",
      anchor: ["9000009998", "123456789", "1790000000000000"] as const,
      seen: snapshot,
      partial: { snapshot, place: { xid: "9000000007", seq: "12345678", ordinal: "1000" } },
    };
    assert(printFeedPosition(position).length < 4000, String(printFeedPosition(position).length));
  });
});
