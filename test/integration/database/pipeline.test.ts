// Statements that are sent at once on one session: each ends by itself, whatever happens to the others.
import { assert, assertEquals, assertRejects } from "@std/assert";
import { after, before, beforeEach, describe, it } from "@std/testing/bdd";
import type { SqlText } from "../../../src/catalogue/catalogue.ts";
import type { Compile } from "../../../src/database/postgres/database.ts";
import { DatabaseError } from "../../../src/database/postgres/database_error.ts";
import { toApiError } from "../../../src/records/database_status.ts";
import { literal } from "../../../src/records/sql/fragment.ts";
import { createTestDatabase, DATABASE_KINDS, type TestDatabase } from "../../support/database.ts";
import { openOtherSession } from "../records/other_session.ts";
import { openSubject, type Subject } from "./open_subject.ts";

interface Written {
  readonly id: string;
}

/** Adds to an item, and returns its key. */
function add(id: number, by = 1): Compile<{ id: string }> {
  return (sql) =>
    sql`update items set n = n + ${String(by)}::text::int4 where id = ${
      String(id)
    }::text::int4 returning id::text as id`;
}

for (const kind of DATABASE_KINDS) {
  describe(`pipeline on ${kind}`, () => {
    let test: TestDatabase;
    let subject: Subject;

    before(async () => {
      test = await createTestDatabase(kind, "empty");
      await test.admin.unsafe(`create table items (id int4 primary key, n int4 not null,
        constraint n_small check (n < 100))`);
      subject = openSubject(test);
    });
    beforeEach(async () => {
      await test.admin.unsafe(
        "truncate items; insert into items select n, 0 from generate_series(1, 20) n",
      );
    });
    after(async () => {
      await subject.database.close(1000);
      await test.drop();
    });

    /** Runs them as a batch; what each gave, or the kind of its failure. */
    function run(
      compiles: readonly Compile<Written>[],
      { stallMs = 5000, database = subject.database } = {},
    ) {
      let sent = 0;
      const options = { write: true, stallMs, sent: () => void sent++ };
      const responses = database.pipeline(compiles.map((compile) => ({ compile })), options);
      return Promise.all(responses.map(async (response) => {
        try {
          const rows = await response;
          return rows === undefined ? "undone" : rows.map(({ id }) => id).join();
        } catch (error) {
          assert(error instanceof DatabaseError, String(error));
          return `${toApiError(error).status} ${error.kind}`;
        } finally {
          assertEquals(sent, 1);
        }
      }));
    }

    async function read(): Promise<string> {
      const rows = await test.admin`select id, n from items where n <> 0 order by id`;
      return rows.map(({ id, n }) => `${id}=${n}`).join(" ");
    }

    it("gives each its own rows, in their order", async () => {
      for (let round = 0; round < 3; round++) {
        const ids = [7, 3, 3, 99, 1, 20, 5, 7];
        const reported = await run(ids.map((id) => add(id)));
        assertEquals(reported, ["7", "3", "3", "", "1", "20", "5", "7"]);
      }
      assertEquals(await read(), "1=3 3=6 5=3 7=6 20=3");
    });

    it("keeps the others where one is rejected", async () => {
      const reported = await run([add(1), add(2, 100), add(3), add(4, 2 ** 31), add(5)]);
      assertEquals(reported, ["1", "400 check", "3", "400 value", "5"]);
      assertEquals(await read(), "1=1 3=1 5=1");
    });

    it("takes statements of many shapes, known or new, prepared or not", async () => {
      for (let round = 0; round < 40; round++) {
        const compiles = Array.from({ length: 8 }, (_, place): Compile<Written> => {
          if (place % 3 === 0) return add(place + 1);
          const name = `c${round}_${place}` as SqlText;
          return (sql) =>
            sql`select ${`${round} ${place}`}::text as id, 1 as ${literal(sql, name)}`;
        });
        assertEquals(
          await run(compiles),
          compiles.map((_, place) => place % 3 === 0 ? String(place + 1) : `${round} ${place}`),
        );
      }
      assertEquals(await read(), "1=40 4=40 7=40");
    });

    it("serves single statements beside and after", async () => {
      const single = () => subject.database.run(add(9), { write: true });
      const [batched, ...alone] = await Promise.all([
        run([1, 2, 3, 4].map((id) => add(id))),
        ...Array.from({ length: 8 }, single),
      ]);
      assertEquals(batched, ["1", "2", "3", "4"]);
      assertEquals(alone.map(([row]) => row!.id), Array(8).fill("9"));
      assertEquals(await read(), "1=1 2=1 3=1 4=1 9=8");
    });

    it("sends nothing where one cannot be compiled", async () => {
      const broken: Compile<Written> = (sql) => sql`select ${1 as unknown as string}::text as id`;
      const responses = subject.database.pipeline([{ compile: add(1) }, { compile: broken }], {
        write: true,
        stallMs: 5000,
        sent() {
          throw new Error("sent");
        },
      });
      for (const response of responses) await assertRejects(() => response, TypeError);
      assertEquals(await read(), "");
    });

    it("gives those back whose column has another type now, and ends [CO14]", async () => {
      const set = (id: number): Compile<Written> => (sql) =>
        sql`update items set n = ${"7"}::text::int4 where id = ${
          String(id)
        }::text::int4 returning id::text as id`;
      const ids = [1, 2, 3, 4];
      assertEquals(await run(ids.map(set)), ["1", "2", "3", "4"]);
      const one: Compile<Written> = (sql) => sql`select ${"still here"}::text as id`;
      assertEquals(await run([one, one]), ["still here", "still here"]);
      await test.admin.unsafe(
        "alter table items drop constraint n_small, alter n type date using now()",
      );
      try {
        assertEquals(await run(ids.map(set)), ids.map(() => "undone"));
        const reported = ["still here", "undone", "still here", "undone"];
        assertEquals(await run([one, set(1), one, set(2)]), reported);
      } finally {
        await test.admin.unsafe(`alter table items alter n type int4 using 0,
          add constraint n_small check (n < 100)`);
      }
      assertEquals(await run(ids.map(set)), ["1", "2", "3", "4"]);
    });

    if (kind === "embedded") return;

    it("cancels those that wait for a lock, and neither loses nor delays the others [E42]", async () => {
      const all = [1, 2, 3, 4, 5, 6];
      await run(all.map((id) => add(id)));
      const other = await openOtherSession(test.admin);
      try {
        await other.run("begin; update items set n = 50 where id in (3, 5)");
        // It ends while the other one holds its locks.
        const reported = await run(all.map((id) => add(id)), { stallMs: 50 });
        assertEquals([reported[0], reported[1], reported[2], reported[4]], [
          "1",
          "2",
          "undone",
          "undone",
        ]);
        await other.run("rollback");
        // A cancellation that is late hits the next one, which then is undone too.
        const done = reported.filter((item) => item !== "undone");
        const expected = all.map((id) => `${id}=${done.includes(String(id)) ? 2 : 1}`);
        assertEquals(await read(), expected.join(" "));
      } finally {
        await other.close();
      }
      assertEquals(await run([1, 2].map((id) => add(id))), ["1", "2"]);
    });

    for (const shape of ["known", "new"]) {
      it(`reports of a session that ended which were done, and that the outcome of the others is unknown, ${shape} to it [E42]`, async () => {
        const { database } = openSubject(test, { poolSize: 1 });
        const all = [1, 2, 3, 4].map((id) => add(id));
        if (shape === "known") await run(all, { database });
        const other = await openOtherSession(test.admin);
        try {
          await other.run("begin; update items set n = 50 where id = 3");
          const pending = run(all, { database });
          await other.awaitBlocked(1);
          await test.admin`select pg_terminate_backend(pid) from pg_stat_activity
            where datname = current_database() and cardinality(pg_blocking_pids(pid)) > 0`;
          assertEquals(await pending, ["1", "2", "503 lost", "503 lost"]);
          await other.run("rollback");
        } finally {
          await other.close();
        }
        const kept = shape === "known" ? "1=2 2=2 3=1 4=1" : "1=1 2=1";
        assertEquals(await read(), kept);
        assertEquals(await run(all, { database }), ["1", "2", "3", "4"]);
        await database.close(1000);
      });
    }

    it("gives a victim of others back to be run alone [E38]", async () => {
      await test.admin.unsafe(`
        create function reject_once() returns trigger language plpgsql as $$ begin
          raise exception 'meanwhile' using errcode = '40001'; end $$;
        create trigger reject before update on items for each row when (old.id = 2)
          execute function reject_once()`);
      try {
        assertEquals(await run([1, 2, 3].map((id) => add(id))), ["1", "undone", "3"]);
      } finally {
        await test.admin.unsafe("drop function reject_once cascade");
      }
      const reported = subject.observations.flatMap((item) =>
        "fault" in item ? [`${item.kind} ${item.fault}`] : []
      );
      assertEquals(reported.slice(-2), ["fault serialization", "retry serialization"]);
    });

    it("rejects all where there is no place and no database", async () => {
      const closed = openSubject(test);
      await closed.database.close(0);
      const options = { write: true, stallMs: 5000, sent() {} };
      const statements = [1, 2].map((id) => ({ compile: add(id) }));
      for (const response of closed.database.pipeline(statements, options)) {
        const error = await assertRejects(() => response, DatabaseError);
        assertEquals([toApiError(error).status, error.kind], [503, "unavailable"]);
      }
      assertEquals(await read(), "");
    });
  });
}
