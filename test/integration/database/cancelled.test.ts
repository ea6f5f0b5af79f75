// Sessions whose statement was cancelled: they are used again once no cancel request can be late.
import { assert, assertEquals, assertRejects } from "@std/assert";
import { after, before, describe, it } from "@std/testing/bdd";
import process from "node:process";
import type { Compile } from "../../../src/database/postgres/database.ts";
import { DatabaseError } from "../../../src/database/postgres/database_error.ts";
import { createTestDatabase, type TestDatabase } from "../../support/database.ts";
import { type FaultProxy, startFaultProxy } from "../../support/fault_proxy.ts";
import { waitUntil } from "../../support/wait_until.ts";
import { openOtherSession } from "../records/other_session.ts";
import { openSubject, type Subject } from "./open_subject.ts";

interface Backend {
  readonly pid: string;
  readonly prepared: string;
}

/** `ROWGATE_TEST_CANCELLATIONS=2000` is the long form. */
const ROUNDS = Number(process.env["ROWGATE_TEST_CANCELLATIONS"] ?? "20");

describe("a session whose statement was cancelled", () => {
  let test: TestDatabase;
  let proxy: FaultProxy;
  let subject: Subject;

  before(async () => {
    test = await createTestDatabase("real", "empty");
    await test.admin.unsafe(`create table items (id int4 primary key, n int4 not null);
      insert into items select n, 0 from generate_series(1, 20) n`);
    proxy = await startFaultProxy(test.url!);
    // One session, so that each statement follows the one that was cancelled.
    subject = openSubject({ ...test, url: proxy.through(test.url!) }, { poolSize: 1 });
  });
  after(async () => {
    await subject.database.close(1000);
    await proxy.stop();
    await test.drop();
  });

  const { run, transact } = {
    run: (...options: Parameters<Subject["database"]["run"]>) => subject.database.run(...options),
    transact: (...options: Parameters<Subject["database"]["transact"]>) =>
      subject.database.transact(...options),
  };

  async function look(): Promise<Backend> {
    const [row] = await run(
      (sql) =>
        sql`select pg_backend_pid()::text as pid,
          (select count(*)::text from pg_prepared_statements where not from_sql) as prepared`,
      { write: false },
    );
    return row as unknown as Backend;
  }

  /** Sleeps, and is left by its client after some time; the service sees that 100 to 200 ms later. */
  async function leave(compile: Compile, afterMs = 0): Promise<string> {
    const client = new AbortController();
    setTimeout(() => client.abort(), afterMs);
    return await run(compile, { write: true, client }).then(() => "done", ({ code }) => code);
  }

  const sleep = (seconds: number): Compile => (sql) =>
    sql`select pg_sleep(${String(seconds)}::text::float8)`;
  const add: Compile = (sql) => sql`update items set n = n + 1 where id = ${"1"}::text::int4`;

  it("works as before, with its prepared statements [RE35]", async () => {
    for (let use = 0; use < 3; use++) await run(add, { write: true });
    for (let use = 0; use < 3; use++) await run(sleep(0), { write: true });
    await look();
    const before = await look();
    const other = await openOtherSession(test.admin);
    try {
      await other.run("begin; update items set n = 0 where id = 1");
      for (let round = 0; round < 5; round++) assertEquals(await leave(add), "ABORTED");
    } finally {
      await other.close();
    }
    assertEquals(await look(), before);
    assertEquals(await leave(sleep(5)), "ABORTED");
    assertEquals(await look(), before);
  });

  it("is used again only after a late cancel request has arrived [DB31]", async () => {
    const before = await look();
    const other = await openOtherSession(test.admin);
    let ran = false;
    let next: Promise<unknown> | undefined;
    try {
      await other.run("begin; update items set n = 0 where id = 1");
      await proxy.during({ kind: "hold_cancels" }, async () => {
        const left = leave(add);
        await waitUntil(() => proxy.heldCancels() > 0);
        // It ends before its cancellation arrives, which would hit the next one.
        await other.run("commit");
        assertEquals(await left, "done");
        next = run(sleep(0), { write: false }).then(() => ran = true);
        for (let trips = 0; trips < 50; trips++) await test.admin`select 1`;
        assertEquals(ran, false, "the cancel request was not waited for");
      });
    } finally {
      await other.close();
    }
    await next;
    assertEquals((await look()).pid, before.pid);
  });

  it("is never affected by the cancellation of another statement, whenever that arrives [DB31]", async () => {
    const before = await look();
    const outcomes = new Set<string>();
    for (let round = 0; round < ROUNDS || outcomes.size < 2; round++) {
      await proxy.during({ kind: "delay_cancels", ms: round % 10 }, async () => {
        // It ends about when it is cancelled: before, while or after the request arrives.
        outcomes.add(await leave(sleep(0.07 + 0.03 * (round % 7))));
        for (let next = 0; next < 3; next++) await run(add, { write: true });
      });
    }
    assertEquals([...outcomes].sort(), ["ABORTED", "done"]);
    assertEquals((await look()).pid, before.pid);
  });

  it("is closed when the cancel request was lost [DB31]", async () => {
    const before = await look();
    await proxy.during({ kind: "reset_cancels" }, async () => {
      assertEquals(await leave(sleep(1)), "done");
      await run(add, { write: true });
    });
    assert((await look()).pid !== before.pid);
  });

  it("has undone its transaction, and runs the next one [DB31] [E42]", async () => {
    const pid = async () => {
      const rows = await transact([(sql) => sql`select pg_backend_pid()::text as pid`], {
        rollback: false,
        tenant: "1",
      });
      return rows[0]!["pid"];
    };
    const before = await pid();
    for (const ms of [0, 300]) {
      await proxy.during({ kind: "delay_cancels", ms }, async () => {
        const client = new AbortController();
        setTimeout(() => client.abort(), 0);
        const steps = [add, sleep(0.35), sleep(0.3)];
        const error = await assertRejects(
          () => transact(steps, { rollback: false, tenant: "1", client }),
          DatabaseError,
        );
        assertEquals((error as DatabaseError).code, "ABORTED");
        assertEquals(await pid(), before);
      });
    }
    await run((sql) => sql`update items set n = 7 where id = ${"2"}::text::int4`, { write: true });
    const open = await test.admin`select from pg_stat_activity
      where datname = current_database() and state like 'idle in transaction%'`;
    assertEquals(open.length, 0);
  });
});
