import { assert, assertEquals, assertRejects } from "@std/assert";
import { after, before, describe, it } from "@std/testing/bdd";
import process from "node:process";
import type { SqlText } from "../../../src/catalogue/catalogue.ts";
import { probeDatabase } from "../../../src/database/postgres/open_database.ts";
import type { Compile } from "../../../src/database/postgres/database.ts";
import { DatabaseError, findDatabaseError } from "../../../src/database/postgres/database_error.ts";
import type { ApiError } from "../../../src/basics/errors/api_error.ts";
import { toApiError } from "../../../src/records/database_status.ts";
import { literal } from "../../../src/records/sql/fragment.ts";
import { createTestDatabase, DATABASE_KINDS } from "../../support/database.ts";
import type { TestDatabase } from "../../support/database.ts";
import { waitUntil } from "../../support/wait_until.ts";
import { openSubject } from "./open_subject.ts";
import type { Subject } from "./open_subject.ts";

/** Returns the error that a statement fails with. */
async function expectError(work: Promise<unknown>): Promise<ApiError> {
  const error = await assertRejects(() => work);
  assert(error instanceof DatabaseError, String(error));
  return toApiError(error);
}

function failureOf(error: ApiError): DatabaseError {
  return findDatabaseError(error)!;
}

for (const kind of DATABASE_KINDS) {
  describe(`run on ${kind}`, () => {
    let test: TestDatabase;
    let subject: Subject;

    before(async () => {
      test = await createTestDatabase(kind, "empty");
      await test.admin.unsafe("create table items (id int4 primary key, name text)");
      subject = openSubject(test);
    });
    after(async () => {
      await subject.database.close(1000);
      await test.drop();
    });

    it("gives long texts as it gives short ones, on a statement that is prepared, too", async () => {
      const texts = ["", "\ufeff[]", "é€🚀", `"${"lorem € ".repeat(20_000)}"`];
      for (const text of texts) {
        for (let round = 0; round < 3; round++) {
          const rows = await subject.database.run<{ text: string; json: string; nothing: null }>(
            (sql) =>
              sql`select ${text}::text as text, to_json(${text}::text) as json, null::text as nothing
                from generate_series(1, 2)`,
            { write: false },
          );
          const row = { text, json: JSON.stringify(text), nothing: null };
          assertEquals(rows.map((row) => ({ ...row })), [row, row]);
        }
      }
    });

    it("hands values to Postgres as the text they are [D1]", async () => {
      // What the driver makes of these when Postgres infers their type: false, milliseconds, a
      // RangeError, JSON in JSON, hex of hex, "a,b".
      const values = {
        bool: "true",
        timestamptz: "2024-01-02 03:04:05.000001+00",
        timestamp: "infinity",
        jsonb: '{"a": "b"}',
        bytea: "\\x00ff10",
        "text[]": '{a,"b,c"}',
        numeric: "12345678901234567890.123456789",
        text: 'it\'s "quoted" \\ 🚀',
      };
      for (const [type, value] of Object.entries(values)) {
        for (let round = 0; round < 2; round++) {
          const [row] = await subject.database.run<{ same: boolean; text: string }>(
            (sql) => sql`select ${value}::text::${literal(sql, type as SqlText)}::text as text`,
            { write: false },
          );
          const [expected] = await test.admin.unsafe(
            `select '${value.replaceAll("'", "''")}'::${type}::text as text`,
          );
          assertEquals(row?.text, expected?.text, type);
        }
      }
    });

    it("hands times and labels to Postgres as the text they are, with a type of their own [D1] [P33]", async () => {
      await test.admin.unsafe("create type mood as enum ('calm', 'it''s, \"odd\"')");
      const lists = '{"2024-01-02 03:04:05.000001+00",infinity}';
      const values = {
        timestamptz: "2024-01-02 03:04:05.000001+00",
        timestamp: "infinity",
        date: "0044-03-15 BC",
        time: "24:00:00",
        timetz: "03:04:05.000001+05:30",
        "public.mood": 'it\'s, "odd"',
        "timestamptz[]": lists,
        "public.mood[]": '{calm,"it\'s, \\"odd\\""}',
      };
      for (const [type, value] of Object.entries(values)) {
        for (let round = 0; round < 2; round++) {
          const [row] = await subject.database.run<{ text: string }>(
            (sql) => sql`select ${value}::${literal(sql, type as SqlText)}::text as text`,
            { write: false },
          );
          const [expected] = await test.admin.unsafe(
            `select '${value.replaceAll("'", "''")}'::${type}::text as text`,
          );
          assertEquals(row?.text, expected?.text, type);
        }
      }
    });

    it("passes null as null", async () => {
      const rows = await subject.database.run(
        (sql) => sql`select ${null}::text::int4 is null as response`,
        { write: false },
      );
      assertEquals(rows[0]?.response, true);
    });

    it("serves the next statement after each kind of failure", async () => {
      const failing: readonly (readonly [Compile, string])[] = [
        [(sql) => sql`select ${"x"}::text::int4`, "value"],
        [(sql) => sql`select 1 / ${"0"}::text::int4`, "raised"],
        [(sql) => sql`select nothing from items where name = ${"x"}`, "stale"],
        [(sql) => sql`select from nowhere`, "stale"],
        [(sql) => sql`select (select 1 union all select 2)`, "raised"],
        [(sql) => sql`rollback to savepoint nowhere`, "raised"],
      ];
      for (const [compile, expected] of [...failing, ...failing]) {
        const error = await expectError(subject.database.run(compile, { write: false }));
        assertEquals(failureOf(error).kind, expected);
        const rows = await subject.database.run((sql) => sql`select ${"1"}::text as one`, {
          write: false,
        });
        assertEquals(rows[0]?.one, "1");
      }
    });

    it("reports Postgres's errors by their kind [P30]", async () => {
      await test.admin.unsafe(`
        create table rules (id int4 primary key, n int4 not null, constraint n_positive check (n > 0));
        insert into rules values (1, 1), (2, 2);
        create function complain() returns trigger language plpgsql as
          $$ begin raise exception 'not on a Sunday'; end $$;
        create trigger complain before delete on rules for each row execute function complain();
      `);
      const write = async (compile: Compile) =>
        failureOf(await expectError(subject.database.run(compile, { write: true })));
      const unique = await write((sql) =>
        sql`update rules set id = ${"1"}::text::int4 where id = 2`
      );
      assertEquals([unique.kind, unique.constraint], ["conflict", "rules_pkey"]);
      const check = await write((sql) =>
        sql`update rules set n = ${"-1"}::text::int4 where id = 2`
      );
      assertEquals([check.kind, check.constraint], ["check", "n_positive"]);
      const missing = await write((sql) =>
        sql`update rules set n = ${null}::text::int4 where id = 2`
      );
      assertEquals([missing.kind, missing.column], ["not_null", "n"]);
      const raised = await write((sql) => sql`delete from rules where id = ${"1"}::text::int4`);
      assertEquals([raised.kind, raised.raised], ["raised", "not on a Sunday"]);
    });

    it("prepares the 256 shapes that were sent twice last and no more [P12] [RE34]", async () => {
      // On one connection, to count what that one holds; the embedded one has no other.
      const { database } = kind === "real" ? openSubject(test, { poolSize: 1 }) : subject;
      const select = async (shape: number) => {
        const rows = await database.run(
          (sql) =>
            sql`select ${"v"}::text as value, 1 as ${literal(sql, `shape_${shape}` as SqlText)}`,
          { write: false },
        );
        assertEquals(rows[0]?.value, "v");
      };
      /** How many are prepared: all statements, these, and the last ones, and when the latter were. */
      const count = async () => {
        const [row] = await database.run<{ all: number; shapes: number; last: number; at: string }>(
          (sql) =>
            sql`select count(*)::int4 as all,
              count(*) filter (where statement like '%shape\\_%')::int4 as shapes,
              count(*) filter (where statement ~ 'shape_(29|30)[0-9]$')::int4 as last,
              max(prepare_time) filter (where statement ~ 'shape_(29|30)[0-9]$')::text as at
              from pg_prepared_statements where not from_sql`,
          { write: false },
        );
        return row!;
      };
      for (let shape = 0; shape < 100; shape++) await select(shape);
      assert((await count()).shapes <= 1, "a shape that was used once is prepared");
      for (let shape = 0; shape < 310; shape++) {
        await select(shape);
        await select(shape);
      }
      const { all, shapes, last, at } = await count();
      assert(shapes >= 200 && all <= 256 * (kind === "real" ? 1 : 3), `${shapes} of ${all}`);
      assertEquals(last, 20);
      // Those that are sent once displace none, so that none is prepared again.
      for (let shape = 1000; shape < 1600; shape++) await select(shape);
      for (let use = 0; use < 2; use++) {
        for (let shape = 290; shape < 310; shape++) await select(shape);
      }
      assertEquals((await count()).at, at);
      if (database !== subject.database) await database.close(1000);
    });

    it("carries a value of megabytes", async () => {
      const value = "ü".repeat(2_000_000);
      const [row] = await subject.database.run<{ length: string; value: string }>(
        (sql) => sql`select length(${value}::text)::text as length, ${value}::text as value`,
        { write: false },
      );
      assertEquals(row?.length, "2000000");
      assert(row?.value === value);
    });

    it("prints alike, whatever has been set elsewhere [P24]", async () => {
      const [row] = await subject.database.run(
        (sql) =>
          sql`select timestamptz '2024-02-29 12:00:00+02' || '' as at, interval '1 day' || '' as span,
            '\\x00'::bytea::text as bytes, (0.1::float8 + 0.2::float8)::text as sum`,
        { write: false },
      );
      assertEquals({ ...row }, {
        at: "2024-02-29 10:00:00+00",
        span: "P1D",
        bytes: "\\x00",
        sum: "0.30000000000000004",
      });
    });

    it("answers a probe without a failure", async () => {
      assertEquals(await probeDatabase(subject.database), undefined);
    });
  });
}

describe("run under limits", () => {
  let test: TestDatabase;
  let subject: Subject;

  before(async () => {
    test = await createTestDatabase("real", "empty");
    await test.admin.unsafe(`
      create table items (id int4 primary key, name text);
      insert into items select n, 'item ' || n from generate_series(1, 10) n;
    `);
    subject = openSubject(test, {
      poolSize: 2,
      poolWaitMs: 200,
      statementTimeoutMs: 600,
      lockTimeoutMs: 200,
    });
  });
  after(async () => {
    await subject.database.close(1000);
    await test.drop();
  });

  it("responds to a statement over its time with 504 [R14]", async () => {
    const error = await expectError(
      subject.database.run((sql) => sql`select pg_sleep(30)`, { write: true }),
    );
    assertEquals([error.status, failureOf(error).code], [504, "57014"]);
    assert(error.message.endsWith("nothing was changed"));
  });

  it("responds to a locked row with 503 and Retry-After [E39] [R15]", async () => {
    await test.admin.begin(async (admin) => {
      await admin`update items set name = 'held' where id = 1`;
      const error = await expectError(
        subject.database.run((sql) => sql`update items set name = ${"mine"}::text where id = 1`, {
          write: true,
        }),
      );
      assertEquals([error.status, error.headers["Retry-After"]], [503, "1"]);
      assert(error.message.endsWith("nothing was changed"));
    });
  });

  it("rejects requests when all connections stay busy, then serves again [R13] [R12]", async () => {
    const busy = [1, 2].map(() =>
      subject.database.run((sql) => sql`select pg_sleep(0.5)`, { write: false })
    );
    const error = await expectError(subject.database.run((sql) => sql`select 1`, { write: false }));
    assertEquals([error.status, error.headers["Retry-After"]], [503, "1"]);
    assertEquals(failureOf(error).code, "POOL_WAIT");
    await Promise.all(busy);
    assertEquals(await probeDatabase(subject.database), undefined);
  });

  describe("that are long", () => {
    let patient: Subject;

    before(() => {
      patient = openSubject(test, { poolSize: 1, statementTimeoutMs: 60_000 });
    });
    after(() => patient.database.close(1000));

    it("cancels a statement whose client has disconnected [RE19]", async () => {
      const controller = new AbortController();
      const running = patient.database.run((sql) => sql`select pg_sleep(50), 'abandoned'`, {
        write: false,
        client: controller,
      });
      const rejected = expectError(running);
      await waitUntil(async () => (await activity("abandoned")) === 1);
      controller.abort();
      assertEquals(failureOf(await rejected).kind, "timeout");
      assertEquals(await activity("abandoned"), 0);
    });

    it("keeps nothing of a slow statement whose client had gone before [RE19]", async () => {
      const client = { signal: AbortSignal.abort() };
      const error = await expectError(
        patient.database.run(
          (sql) => sql`insert into items select 100 from pg_sleep(${"50"}::text::float8)`,
          { write: true, client },
        ),
      );
      assertEquals(failureOf(error).code, "ABORTED");
      const [row] = await test.admin`select count(*)::int4 as count from items where id >= 100`;
      assertEquals(row?.count, 0);
    });
  });

  it("repeats the victim of a deadlock [E38] [CO5]", async () => {
    const swap = (first: string, second: string) =>
      subject.database.run(
        (sql) =>
          sql`with one as (update items set name = ${first}::text where id = ${first}::text::int4 returning 1),
            pause as materialized (select pg_sleep(0.15) from one)
          update items set name = ${first}::text
          where id = ${second}::text::int4 and exists (select from pause)`,
        { write: true },
      );
    await Promise.all([swap("2", "3"), swap("3", "2")]);
    const rows = await test.admin`select distinct name from items where id in (2, 3)`;
    assertEquals(rows.length, 1);
  });

  it("gives all rows of the statement after one that failed in the middle of its rows", async () => {
    await expectError(subject.database.run(
      (sql) => sql`select 1 / (3 - n) from generate_series(1, 3) n`,
      { write: false },
    ));
    // On both connections.
    const results = await Promise.all(
      [1, 2].map(() =>
        subject.database.run((sql) => sql`select ${"1"}::text one, pg_sleep(0.1)`, { write: false })
      ),
    );
    assertEquals(results.map((rows) => [rows.length, rows[0]?.one]), [[1, "1"], [1, "1"]]);
  });

  it("runs a fast statement while others are slow [RE9]", async () => {
    const order: string[] = [];
    const slow = subject.database.run((sql) => sql`select pg_sleep(0.4)`, { write: false })
      .then(() => order.push("slow"));
    await Promise.all([1, 2, 3, 4].map(async () => {
      await subject.database.run((sql) => sql`select 1`, { write: false });
      order.push("fast");
    }));
    await slow;
    assertEquals(order, ["fast", "fast", "fast", "fast", "slow"]);
  });

  it("prints no notice and sends none on [DB26]", async () => {
    const rows = await subject.database.run((sql) => sql`select ${"1"}::text as one`, {
      write: false,
    });
    await test.admin.unsafe(`create function notify_loudly() returns int4 language plpgsql as
      $$ begin raise warning 'loud'; return 1; end $$`);
    const loud = await subject.database.run(
      (sql) => sql`select public.notify_loudly()::text as one`,
      {
        write: false,
      },
    );
    assertEquals({ ...loud[0] }, { ...rows[0] });
  });

  /** Counts the running statements that hold a text. */
  async function activity(text: string): Promise<number> {
    const [row] = await test.admin<{ count: number }[]>`
      select count(*)::int4 as count from pg_stat_activity
      where datname = current_database() and state = 'active' and application_name = 'rowgate'
        and query like ${`%${text}%`}`;
    return row?.count ?? 0;
  }
});

describe("run over broken connections", () => {
  let test: TestDatabase;
  let subject: Subject;

  before(async () => {
    test = await createTestDatabase("real", "empty");
    await test.admin.unsafe("create table log (n int4)");
    subject = openSubject(test, { poolSize: 3 });
  });
  after(async () => {
    await subject.database.close(1000);
    await test.drop();
  });

  /** Kills every connection of the subject once one of its statements runs. */
  async function terminate(): Promise<void> {
    await waitUntil(async () => {
      const rows = await test.admin`
        select from pg_stat_activity
        where datname = current_database() and application_name = 'rowgate' and state = 'active'
          and wait_event = 'PgSleep'`;
      return rows.length > 0;
    });
    await test.admin`
      select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and application_name = 'rowgate'`;
  }

  it("reads once more when the connection is lost [E43] [DB5]", async () => {
    let attempts = 0;
    const [rows] = await Promise.all([
      subject.database.run((sql) => {
        return attempts++ === 0
          ? sql`select pg_sleep(20), 'late' as response`
          : sql`select 'second' as response`;
      }, { write: false }),
      terminate(),
    ]);
    assertEquals([rows[0]?.response, attempts], ["second", 2]);
  });

  it("does not repeat a lost write, and says what is unknown [E42] [DB6]", async () => {
    let attempts = 0;
    const [error] = await Promise.all([
      expectError(subject.database.run((sql) => {
        attempts++;
        return sql`insert into log select 1 from pg_sleep(20)`;
      }, { write: true })),
      terminate(),
    ]);
    assertEquals([error.status, error.headers["Retry-After"], attempts], [503, "1", 1]);
    assert(error.message.includes("outcome is unknown"));
  });

  it("reports the error of a broken connection to no later statement", async () => {
    for (let round = 0; round < 5; round++) {
      const rows = await subject.database.run((sql) => sql`select ${String(round)}::text as n`, {
        write: true,
      });
      assertEquals(rows[0]?.n, String(round));
    }
  });

  it("reports once that the database is unavailable and once that it is back", () => {
    const texts = subject.observations.flatMap((item) =>
      item.kind === "warning" ? [item.message.replace(/ \(\w+\)$/, "")] : []
    );
    assertEquals(texts, [
      "the database is not available",
      "the database is available again",
    ]);
  });

  it("gives up on a frozen backend, and serves others meanwhile [DB12]", async () => {
    const { database } = openSubject(test, { poolSize: 3, statementTimeoutMs: 3000 });
    const [row] = await database.run<{ pid: string }>(
      (sql) => sql`select pg_backend_pid()::text as pid`,
      { write: false },
    );
    const pid = Number(row?.pid);
    process.kill(pid, "SIGSTOP");
    try {
      const first = database.run((sql) => sql`select ${"1"}::text as n`, { write: true });
      const others = await Promise.all(
        ["2", "3", "4"].map((n) =>
          database.run((sql) => sql`select ${n}::text as n`, { write: false })
        ),
      );
      assertEquals(others.map((rows) => rows[0]?.n), ["2", "3", "4"]);
      const error = await expectError(first);
      assertEquals(error.status, 504);
      assert(error.message.includes("outcome is unknown"));
      assertEquals(await probeDatabase(database), undefined);
    } finally {
      process.kill(pid, "SIGCONT");
      await database.close(1000);
    }
  });
});
