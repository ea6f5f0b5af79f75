import { assertEquals, assertMatch } from "@std/assert";
import { after, before, describe, it } from "@std/testing/bdd";
import { checkLog } from "../../../src/doctor/changes_feeds.ts";
import type { LogStatus } from "../../../src/changes/find_feeds.ts";
import { createTestDatabase, type TestDatabase } from "../../support/database.ts";
import { compareDescriptions, describeDatabase } from "../../support/describe_database.ts";
import { waitUntil } from "../../support/wait_until.ts";
import { run } from "../schemas/follow_page.ts";
import { examineDatabase, findingsOf } from "./examine_database.ts";
import { readFix } from "./read_fix.ts";

const CHECK = "changes feeds";

describe("doctor on changes feeds", () => {
  let test: TestDatabase;

  /** Runs `rowgate` as the owner. */
  const runAsOwner = async (args: readonly string[]) => {
    const ran = await run(args, { environment: { DATABASE_URL: test.url! }, policy: {} });
    assertEquals(ran.code, 0, ran.err);
    return ran.out;
  };
  const look = async () => findingsOf(await examineDatabase(test), CHECK);
  const correct = async () => {
    for (const { fix } of (await examineDatabase(test)).get(CHECK)!.findings) {
      for (const { kind, text } of readFix(fix)) {
        if (kind === "statement") await test.admin.unsafe(text);
        else await runAsOwner(text.replace(/^rowgate /, "").split(" "));
      }
    }
  };

  before(async () => {
    test = await createTestDatabase("real", "empty");
    await test.admin.unsafe(`
      create table people (id int4 primary key, tenant_id int4 not null);
      create table pets (id int4 primary key, tenant_id int4 not null)`);
    await test.admin.unsafe(await runAsOwner(["setup", "--print"]));
    await runAsOwner(["changes", "enable", "people", "pets"]);
  });
  after(() => test.drop());

  it("finds nothing where they catch every change, also of a table that was renamed [CH21]", async () => {
    assertEquals(await look(), []);
    await test.admin`alter table pets rename to animals`;
    const { seen, findings } = (await examineDatabase(test)).get(CHECK)!;
    assertMatch(seen, /^2 feeds, about \d+ entries kept$/);
    assertEquals(findings, []);
    await test.admin`alter table animals rename to pets`;
  });

  it("finds that the role may not read their log, and grants no more than that [CF21] [CH21]", async () => {
    const before = await describeDatabase(test.admin);
    await test.admin`revoke select on rowgate.changes from rowgate_app`;
    assertEquals(await look(), ["warning: the role rowgate_app may not read rowgate.changes"]);
    await correct();
    assertEquals(await look(), []);
    assertEquals(compareDescriptions(before, await describeDatabase(test.admin)), []);
  });

  it("finds one that does not catch every change, and enables it anew [CF21] [CH21] [CH3]", async () => {
    await test.admin`alter table people disable trigger all`;
    assertEquals(await look(), [
      "warning: the feed of the table people does not catch every change",
    ]);
    await correct();
    assertEquals(await look(), []);
  });

  it("finds one whose table is gone, and removes it [CF21] [CH21]", async () => {
    await test.admin`drop table pets`;
    assertEquals(await look(), [
      "warning: there is a feed of the table pets, which was dropped",
    ]);
    await correct();
    assertEquals(await look(), []);
    assertEquals([...await test.admin`select table_name from rowgate.feeds`], [
      { table_name: "people" },
    ]);
  });

  it("names a transaction that has been writing for an hour, also to a role that may not see its start [CH21]", async () => {
    let commit = () => {};
    const held = new Promise<void>((resolve) => commit = resolve);
    let begun = () => {};
    const writing = new Promise<void>((resolve) => begun = resolve);
    const transaction = test.admin.begin(async (sql) => {
      await sql`insert into people values (1, 1)`;
      begun();
      await held;
    });
    await writing;
    await test.admin`insert into people values (2, 1)`;
    assertEquals(await look(), []);
    // What was written after it has begun says for how long it has been open.
    await test.admin`update rowgate.changes set at = at - interval '2 hours'`;
    // A transaction of another test may be older for a while.
    await waitUntil(async () => (await look()).length > 0);
    const [found, ...others] = (await examineDatabase(test)).get(CHECK)!.findings;
    assertEquals([found!.id, others], ["old_transaction", []]);
    assertMatch(found!.what, /^process \d+ has had a transaction open for 12\d minutes$/);
    assertMatch(found!.fix, /^select pg_terminate_backend\(\d+\);/);
    commit();
    await transaction;
  });

  it("names a prepared transaction, and how to end it [CH21]", () => {
    const oldestTransaction = {
      ...{ pid: null, user: "app", application: null },
      ...{ seconds: 7200, prepared: "the manager's" },
    };
    const log: LogStatus = { entries: 1, bytes: 1, oldestSeconds: 1, oldestTransaction };
    const [finding] = checkLog(log);
    assertEquals(
      finding!.what,
      "the transaction the manager's has been prepared for 120 minutes",
    );
    assertMatch(finding!.fix, /^rollback prepared 'the manager''s';/);
    for (const seconds of [null, 3599]) {
      assertEquals(checkLog({ ...log, oldestTransaction: { ...oldestTransaction, seconds } }), []);
    }
  });
});
