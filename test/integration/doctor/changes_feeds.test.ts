import { assertEquals, assertMatch } from "@std/assert";
import { after, before, describe, it } from "@std/testing/bdd";
import postgres from "postgres";
import type { Database } from "../../../src/database/postgres/database.ts";
import { runPrinted } from "../../support/run_printed.ts";
import { type Cluster, startCluster } from "../../support/cluster.ts";
import { checkLog } from "../../../src/cli/doctor/changes_feeds.ts";
import type { LogStatus } from "../../../src/feeds/changes/find_feeds.ts";
import { createTestDatabase, type TestDatabase } from "../../support/database.ts";
import { makeTemplates } from "../../support/templates.ts";
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
    await runPrinted(test.admin, await runAsOwner(["setup", "--print"]));
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

  it("finds a feed that does not catch every change, and enables it again [CF21] [CH21] [CH3]", async () => {
    await test.admin`alter table people disable trigger all`;
    assertEquals(await look(), [
      "warning: the feed of the table people does not catch every change",
    ]);
    await correct();
    assertEquals(await look(), []);
  });

  it("finds a feed whose table was dropped, and removes it [CF21] [CH21]", async () => {
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
    assertMatch(found!.fix, /^select pg_catalog\.pg_terminate_backend\(\d+\);/);
    commit();
    await transaction;
  });

  it("names a prepared transaction, and how to end it [CH21]", () => {
    const oldestTransaction = {
      ...{ pid: null, user: "app", application: null, database: "shop" },
      ...{ seconds: 7200, prepared: "the manager's" },
    };
    const log: LogStatus = { entries: 1, bytes: 1, oldestSeconds: 1, oldestTransaction };
    const [finding] = checkLog(log);
    assertEquals(
      finding!.what,
      "the transaction the manager's has been prepared for 120 minutes",
    );
    assertMatch(
      finding!.fix,
      /^-- in the database shop, as app or a superuser:\nrollback prepared 'the manager''s';/,
    );
    for (const seconds of [null, 3599]) {
      assertEquals(checkLog({ ...log, oldestTransaction: { ...oldestTransaction, seconds } }), []);
    }
  });
});

describe("doctor on transactions that keep the log of changes feeds", () => {
  let cluster: Cluster;
  let test: TestDatabase;
  const HOUR_SECONDS = 3600;

  before(async () => {
    cluster = await startCluster({ settings: { max_prepared_transactions: "2" } });
    await makeTemplates(cluster.url);
    test = await createTestDatabase("real", "empty", { cluster: cluster.url });
    await test.admin.unsafe("create table people (id int4 primary key, tenant_id int4 not null)");
    const environment = { DATABASE_URL: test.url! };
    const { out } = await run(["setup", "--print"], { environment, policy: {} });
    await runPrinted(test.admin, out);
    await run(["changes", "enable", "people"], { environment, policy: {} });
  });
  after(async () => {
    await test?.drop();
    await cluster?.stop();
  });

  /** Examines the database as it would be so much later. */
  const examineAt = async (seconds: number) => {
    const wrap = (database: Database): Database => ({
      ...database,
      run: async (compile, options) =>
        (await database.run(compile, options)).map((row) =>
          "log" in row ? { ...row, log: age(row.log as string, seconds) } : row
        ),
    });
    return (await examineDatabase(test, { wrap })).get(CHECK)!.findings;
  };
  const openSession = (url: string) => postgres(url, { max: 1, onnotice: () => {} });
  const begin = async (session: ReturnType<typeof openSession>) => {
    await session.unsafe("begin");
    await session.unsafe("select pg_current_xact_id()");
  };

  it("ends the session of a transaction that has been open for long [CF21]", async () => {
    // The serving role only sees the transactions of its own sessions.
    const session = openSession(test.servingUrl!);
    await begin(session);
    const [row] = await session.unsafe("select pg_backend_pid() as pid");
    assertEquals(await examineAt(HOUR_SECONDS - 600), []);
    const [finding, ...others] = await examineAt(HOUR_SECONDS);
    assertEquals(others, []);
    assertEquals(finding!.what, `process ${row!.pid} has had a transaction open for 60 minutes`);
    const [ending] = readFix(finding!.fix);
    await test.admin.unsafe(ending!.text);
    await waitUntil(async () => (await examineAt(HOUR_SECONDS)).length === 0);
    await session.end();
  });

  it("rolls back a transaction that was prepared and forgotten, in any database [CF21]", async () => {
    const elsewhere = new URL(test.url!);
    elsewhere.pathname = "/template_fixture";
    for (const url of [test.url!, elsewhere.href]) {
      const session = openSession(url);
      await begin(session);
      await session.unsafe("prepare transaction 'it''s old'");
      const [finding, ...others] = await examineAt(HOUR_SECONDS);
      assertEquals(others, []);
      assertEquals(finding!.what, "the transaction it's old has been prepared for 60 minutes");
      const [place, statement] = readFix(finding!.fix);
      const database = new URL(url).pathname.slice(1);
      assertEquals(place!.text, `in the database ${database}, as postgres or a superuser:`);
      await session.unsafe(statement!.text);
      assertEquals(await examineAt(HOUR_SECONDS), []);
      await session.end();
    }
  });
});

function age(log: string, seconds: number): string {
  const { oldestTransaction, ...others } = JSON.parse(log);
  if (oldestTransaction === null) return log;
  const aged = { ...oldestTransaction, seconds: oldestTransaction.seconds + seconds };
  return JSON.stringify({ ...others, oldestTransaction: aged });
}
