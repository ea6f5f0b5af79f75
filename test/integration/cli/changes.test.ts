import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { after, before, describe, it } from "@std/testing/bdd";
import { runPrinted } from "../../support/run_printed.ts";
import { createTestDatabase, type TestDatabase } from "../../support/database.ts";
import { runRowgate, startRowgate } from "./run_rowgate.ts";
import { settleSoon } from "../../support/wait_until.ts";

const LISTENING = /"listening","address":"([^"]+)"/;

describe("rowgate changes", () => {
  let test: TestDatabase;
  let owner: Record<string, string>;

  before(async () => {
    test = await createTestDatabase("real");
    owner = { DATABASE_URL: test.url ?? "" };
  });
  after(() => test.drop());

  /** The driver would take a transaction that it has not begun for a mistake. */
  const run = (...args: string[]) => runRowgate(["changes", ...args], owner);

  it("lists tables without a feed, and why a table cannot have one [CH2]", async () => {
    const none = await run("status");
    assertEquals(none.code, 0);
    assertStringIncludes(none.err, "No table has a changes feed.");
    for (
      const [table, reason] of [
        ["nothing", "there is no table nothing that clients reach"],
        ["events_log", "it has no primary key"],
      ] as const
    ) {
      const { code, err } = await run("enable", table);
      assertEquals(code, 1);
      assertStringIncludes(err, reason);
    }
  });

  it("prints SQL that enables a feed when it is run by hand, and tables shows it [CH2] [CH23]", async () => {
    const { code, out } = await run("enable", "measurements", "--print");
    assertEquals(code, 0);
    assertMatch(
      out,
      /^begin;\nset local search_path = pg_catalog, pg_temp;\nlock table "public"\."measurements"/,
    );
    await runPrinted(test.admin, out);
    const status = await run("status");
    assertMatch(status.out, /measurements +complete +id, taken_at/);
    const again = await run("enable", "measurements");
    assertEquals(again.code, 0);
    assertStringIncludes(again.err, "The feed of measurements is enabled already.");
    const { out: tables } = await runRowgate(["tables"], owner);
    assertMatch(tables, /^measurements .* yes$/m);
    assertMatch(tables, /^deals .* no$/m);
  });

  it("finds a feed under the new name of its table, and names the transaction that keeps old entries [CH2] [CH21]", async () => {
    await test.admin`alter table measurements rename to readings`;
    assertMatch((await run("status")).out, /^readings +complete +id, taken_at/m);
    assertStringIncludes((await run("enable", "readings")).err, "is enabled already");
    await test.admin`alter table readings rename to measurements`;
    let commit = () => {};
    const held = new Promise<void>((resolve) => commit = resolve);
    let begun = () => {};
    const writing = new Promise<void>((resolve) => begun = resolve);
    const transaction = test.admin.begin(async (sql) => {
      await sql`update measurements set reading = 1`;
      begun();
      await held;
    });
    await writing;
    const { out } = await run("status");
    assertMatch(
      out,
      /The oldest transaction that writes is that of process \d+ \(\w+\), open for \d+ s; /,
    );
    commit();
    await transaction;
  });

  it("enables, finds what is incomplete, repairs and disables [CH2] [CH3]", async () => {
    assertEquals((await run("enable", "deals", "guests")).code, 0);
    await test.admin`alter table deals disable trigger rowgate_changes_delete`;
    const broken = await run("status");
    assertEquals(broken.code, 1);
    assertMatch(broken.out, /deals +INCOMPLETE: enable it again/);
    assertStringIncludes(broken.out, "The log has about 0 entries");
    assertEquals((await run("enable", "deals")).code, 0);
    assertEquals((await run("status", "deals")).code, 0);
    const disabled = await run("disable", "deals", "--print");
    await runPrinted(test.admin, disabled.out);
    assertEquals((await run("disable", "guests")).code, 0);
    const left = await test.admin`select from pg_trigger where tgname like 'rowgate%'
      and tgrelid in ('deals'::regclass, 'guests'::regclass)`;
    assertEquals(left.length, 0);
    const { feeds } = JSON.parse((await run("status", "--json")).out);
    assertEquals(feeds.map(({ table }: { table: string }) => table), ["measurements"]);
  });

  it("enables a feed that clients follow through a server, which ends waits when it stops [CH2] [CH16]", async () => {
    await test.admin`grant usage on schema rowgate to rowgate_app`;
    await test.admin`grant select on rowgate.tokens, rowgate.secrets, rowgate.changes, rowgate.feeds
      to rowgate_app`;
    await test.admin`grant execute on function rowgate.changes_moment(),
      rowgate.changes_shape(int4, oid), rowgate.prune_changes(float8, int4) to rowgate_app`;
    const { out: token } = await runRowgate(["token", "create", "--tenant", "1"], owner);
    const server = startRowgate(["serve"], { DATABASE_URL: test.servingUrl ?? "", PORT: "0" });
    const [, address] = await server.see("out", LISTENING);
    const ask = (search: string) =>
      fetch(`${address}/integration/tables/measurements/changes${search}`, {
        headers: { authorization: `Bearer ${token.trim()}` },
      }).then((response) => response.json());
    const { cursor } = await ask("?since=now");
    const waiting = ask(`?since=${cursor}&wait=60`);
    await new Promise((resolve) => setTimeout(resolve, 600));
    server.send("SIGTERM");
    const body = await settleSoon(waiting, 500);
    assertEquals([body.changes, body.more], [[], false]);
    assertEquals(await server.ended, 0);
  });
});
