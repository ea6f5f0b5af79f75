import { assert, assertEquals, assertMatch } from "@std/assert";
import { after, before, describe, it } from "@std/testing/bdd";
import { readConfig } from "../../../src/server/config/config.ts";
import { openDatabase } from "../../../src/database/postgres/open_database.ts";
import { startNamingPooler } from "../../support/naming_pooler.ts";
import { findPooler, keepsStatements, type Pooler, startPooler } from "../../support/pooler.ts";
import { readPages } from "../../support/read_pages.ts";
import {
  createTestService,
  type ReceivedResponse,
  type TestService,
} from "../../support/service.ts";
import { waitUntil } from "../../support/wait_until.ts";
import { runRowgate } from "../cli/run_rowgate.ts";
import { askWhile, awaitRecovery, isUnavailable, readDeals, writeTitle } from "./load.ts";

/**
 * On a busy machine PgBouncer 1.18 at times takes an answer for one that comes too late ("got packet 'E'
 * from server when not linked"), and closes the connection. The client is told that, and repeats it.
 */
function isLost({ status, text }: Pick<ReceivedResponse, "status" | "text">): boolean {
  return status === 503 && text.includes("The connection to the database was lost");
}

const program = await findPooler();
if (program === undefined) console.log("pgbouncer is not installed: nothing is tested behind it");
else {
  describe("behind PgBouncer in transaction mode", () => {
    let pooler: Pooler;
    let pooled: TestService;

    before(async () => {
      pooled = await createTestService("real", {
        environment: {
          ROWGATE_PREPARE: "off",
          ROWGATE_POOL_SIZE: "8",
          ROWGATE_AUDIT: "on",
          // Forty updates share two connections, on a machine that may be busy.
          ROWGATE_POOL_WAIT_MS: "60000",
        },
        route: async (url) => {
          pooler = await startPooler(program, url);
          return pooler.through(url);
        },
      });
      await awaitRecovery(pooled);
    });
    after(async () => {
      await pooled?.close();
      await pooler?.stop();
    });

    it("tenants at once on the same two connections see their own rows alone [DB25]", async () => {
      const { tokens } = pooled;
      const ask = (index: number) =>
        pooled.send("POST", "/integration/tables/deals/query", {
          body: { sort: [{ field: "fid" }], per_page: 60 },
          token: index % 2 === 0 ? tokens.a : tokens.b,
        });
      const own = [await ask(0), await ask(1)];
      assertEquals(own.map(({ status }) => status), [200, 200], own[0]!.text);
      assert(!own[0]!.text.includes("CANARY") && own[1]!.text.includes("CANARY"));
      const responses = await Promise.all(Array.from({ length: 60 }, (_, index) => ask(index)));
      responses.forEach(({ text }, index) => assertEquals(text, own[index % 2]!.text));
    });

    it("tenants at once read their own rows by page token, each once [DB25] [Q94]", async () => {
      const { tokens, send } = pooled;
      const body = { sort: [{ field: "amount", direction: "desc" }], per_page: 7 };
      const readers = Array.from({ length: 6 }, (_, reader) => ({
        tenant: 1 + reader % 2,
        rows: readPages(send, {
          table: "deals",
          body,
          token: reader % 2 === 0 ? tokens.a : tokens.b,
        }),
      }));
      for (const { tenant, rows } of readers) {
        const read = await rows;
        assertEquals([read.length, new Set(read.map(({ fid }) => fid)).size], [60, 60]);
        assertEquals(new Set(read.map((row) => row["tenant_id"])), new Set([tenant]));
      }
    });

    it("exports of two tenants are complete, one after the other on the same connections [DB25] [EX3] [EX18]", async () => {
      const { tokens, send } = pooled;
      const ask = async (token: string, accept: string) => {
        const headers = { accept };
        const body = { select: ["fid", "tenant_id"], sort: [{ field: "fid" }] };
        const { status, text } = await send("POST", "/integration/tables/deals/query", {
          ...{ body, token, headers },
        });
        assertEquals(status, 200, text);
        return text.trimEnd().split(/\r?\n/);
      };
      for (let round = 0; round < 3; round++) {
        const [lines, rows] = await Promise.all([
          ask(tokens.a, "application/x-ndjson"),
          ask(tokens.b, "text/csv"),
        ]);
        assertEquals(new Set(lines.map((line) => JSON.parse(line).tenant_id)), new Set([1]));
        assertEquals([lines.length, rows.length, rows[0]], [60, 61, "fid,tenant_id"]);
        assertEquals(new Set(rows.slice(1).map((row) => row.split(",")[1])), new Set(["2"]));
      }
    });

    it("updates and transactions that are undone stay within their tenant [DB25]", async () => {
      const write = (index: number) =>
        pooled.send("PATCH", "/integration/tables/deals/records/bulk", {
          body: {
            filters: { external_no: 1 + index % 4 },
            fields: { title: index % 3 === 0 ? "undone" : `by ${index % 2}` },
          },
          headers: index % 3 === 0 ? { prefer: "tx=rollback" } : {},
          token: index % 2 === 0 ? pooled.tokens.a : pooled.tokens.b,
        });
      const responses = await Promise.all(Array.from({ length: 40 }, (_, index) => write(index)));
      assertEquals(responses.filter(({ status }) => status !== 200).map(({ text }) => text), []);
      const rows = await pooled.database.admin`
        select distinct tenant_id, title from deals where title ~ '^(by|undone)' order by 1`;
      assertEquals(rows.map((row) => [row.tenant_id, row.title]), [[1, "by 0"], [2, "by 1"]]);
    });

    it("updates see the database's time zone, and leave no setting behind [DB25] [U61]", async () => {
      const { admin } = pooled.database;
      const [row] = await admin`select current_database() as name`;
      await admin.unsafe(`alter database "${row!.name}" set timezone = 'America/New_York';
        create table zoned (id int4 primary key, tenant_id int4, at timestamptz, changed timestamp);
        insert into zoned select n, 1, '2026-07-01 12:00Z' from generate_series(1, 40) n;
        create function touch() returns trigger language plpgsql as
          'begin new.changed := now(); return new; end';
        create trigger touch before update on zoned for each row execute function touch();
        grant select, update on zoned to rowgate_app`);
      const query = () =>
        pooled.send("POST", "/integration/tables/zoned/query", { body: { per_page: 1 } });
      await waitUntil(async () => (await query()).status === 200);
      const responses = await Promise.all(Array.from({ length: 40 }, async (_, index) => {
        const body = { filters: { id: index + 1 }, fields: { at: "2026-08-01 12:00" } };
        const path = "/integration/tables/zoned/records/single";
        let written = await pooled.send("PATCH", path, { body });
        while (isLost(written)) written = await pooled.send("PATCH", path, { body });
        let found = await query();
        while (isLost(found)) found = await query();
        const { text } = found;
        return [written.status, /"at":"2026-0[78]-01T12:00:00\+00:00"/.test(text)];
      }));
      assertEquals(responses.filter(([status, utc]) => status !== 200 || !utc), []);
      const [counted] = await admin`select count(*)::int4 as rows from zoned
        where abs(extract(epoch from changed - (now() at time zone 'America/New_York'))) < 60`;
      assertEquals(counted!.rows, 40);
    });

    it("recovers when the pooler loses its connections [DB25]", async () => {
      const { admin } = pooled.database;
      const { responses } = await askWhile(
        (index) => index % 2 === 0 ? readDeals(pooled) : writeTitle(pooled, 11 + index % 40, "x"),
        20,
        async (asked) => {
          await waitUntil(() => asked() > 10);
          await admin`select pg_terminate_backend(pid) from pg_stat_activity
            where usename = 'rowgate_app' and datname = current_database()`;
          await waitUntil(() => asked() > 50);
        },
      );
      assertEquals(
        responses.filter((response) => response.status !== 200 && !isUnavailable(response)),
        [],
      );
      await awaitRecovery(pooled);
    });

    it("single updates that arrive together are pipelined, each in its own tenant [DB25]", async () => {
      const write = (index: number) =>
        pooled.send("PATCH", "/integration/tables/deals/records/single", {
          body: {
            filters: { fid: 1 + index % 40 },
            fields: index % 5 === 4 ? { amount: "1e999" } : { title: `pipelined ${index}` },
          },
          token: index % 2 === 0 ? pooled.tokens.a : pooled.tokens.b,
        });
      const before = pooled.observations.length;
      const responses = await Promise.all(Array.from({ length: 200 }, (_, index) => write(index)));
      const expected = responses.map((_, index) => index % 5 === 4 ? 400 : index % 2 ? 404 : 200);
      const others = responses.filter(({ status }, index) => status !== expected[index]);
      assertEquals(others.filter((response) => !isLost(response)), []);
      assert(others.length < responses.length / 2, `${others.length} lost their connection`);
      const batches = pooled.observations.slice(before).filter(({ kind }) => kind === "batch");
      assert(batches.length > 0, "nothing was pipelined");
    });

    it("sessions find out whether it keeps statements, and what it no longer keeps [R60] [R61]", async () => {
      const url = pooled.database.servingUrl!;
      const naming = await startNamingPooler(pooler.through(url));
      const environment = { ROWGATE_PREPARE: "auto", ROWGATE_POOL_SIZE: "4" };
      const { config } = readConfig({ DATABASE_URL: naming.through(url), ...environment });
      const database = openDatabase(config!, () => {});
      try {
        const ask = (value: string) =>
          database.run((sql) => sql`select ${value}::text as value`, { write: false });
        const askAll = () => Promise.all(["a", "b", "c", "d", "e", "f", "g", "h"].map(ask));
        for (let round = 0; round < 4; round++) {
          assertEquals((await askAll()).map(([row]) => row!.value).join(""), "abcdefgh");
        }
        const kept = naming.count();
        assert(kept >= 10, `${kept} statements were run under a name`);
        naming.keep = false;
        for (let round = 0; round < 4; round++) {
          assertEquals((await askAll()).map(([row]) => row!.value).join(""), "abcdefgh");
        }
        assertEquals(naming.count(), kept);
      } finally {
        await database.close(1000);
        await naming.stop();
      }
    });

    it("auto serves behind one that keeps none, and without one as on does [R60] [R61]", async () => {
      const direct = pooled.database.servingUrl!;
      const settings = keepsStatements(program) ? "max_prepared_statements = 0" : "";
      const forgetful = await startPooler(program, direct, { settings });
      try {
        for (const [url, pooled] of [[forgetful.through(direct), true], [direct, false]] as const) {
          await askBehind(url, pooled);
        }
      } finally {
        await forgetful.stop();
      }
    });

    async function askBehind(url: string, isPooled: boolean): Promise<void> {
      const { config } = readConfig({ DATABASE_URL: url, ROWGATE_PREPARE: "auto" });
      const database = openDatabase(config!, () => {});
      try {
        const ask = () =>
          database.run((sql) =>
            sql`select (select count(*) from pg_prepared_statements
              where name ~ '^s[0-9]+$')::text as prepared,
            current_setting('standard_conforming_strings') || current_setting('lock_timeout')
              as "set"`, { write: false });
        for (let round = 0; round < 3; round++) await ask();
        const [row] = await ask();
        assertEquals([row!.prepared, row!.set], [isPooled ? "0" : "1", "on5s"]);
        await database.transact([(sql) => sql`select 1`], { rollback: false });
      } finally {
        await database.close(1000);
      }
    }

    it("auto prepares behind one that keeps statements, from 1.21 on [R60] [R61]", async () => {
      if (!keepsStatements(program)) {
        return console.log(
          "this PgBouncer keeps no statements: ROWGATE_TEST_PGBOUNCER names another",
        );
      }
      const direct = pooled.database.servingUrl!;
      const settings = "max_prepared_statements = 100";
      const keeping = await startPooler(program, direct, { settings });
      const environment = { ROWGATE_PREPARE: "auto", ROWGATE_POOL_SIZE: "4" };
      const { config } = readConfig({ DATABASE_URL: keeping.through(direct), ...environment });
      const database = openDatabase(config!, () => {});
      try {
        const ask = (value: string) =>
          database.run(
            (sql) =>
              sql`select ${value}::text as value,
              (select sum(generic_plans + custom_plans) from pg_prepared_statements)::int4 as runs`,
            {
              write: false,
            },
          );
        let runs = 0;
        for (let round = 0; round < 10; round++) {
          const rows = (await Promise.all(["a", "b", "c", "d"].map(ask))).map(([row]) => row!);
          assertEquals(rows.map(({ value }) => value).join(""), "abcd");
          runs = Math.max(runs, ...rows.map((row) => Number(row["runs"])));
        }
        // One that is prepared each time has run once, on the session that runs it.
        assert(runs > 5, `a prepared statement was run ${runs} times`);
      } finally {
        await database.close(1000);
        await keeping.stop();
      }
    });

    it("doctor says so, in transaction mode and in session mode [R31]", async () => {
      const url = pooled.database.servingUrl!;
      const look = async (through: Pooler, ROWGATE_PREPARE: string) => {
        const environment = { DATABASE_URL: through.through(url), ROWGATE_PREPARE };
        const { out } = await runRowgate(["doctor"], environment);
        return out;
      };
      assertMatch(await look(pooler, "off"), /^ok +connection +local, through a pooler in tr/m);
      const settings = "ignore_startup_parameters = bytea_output,lc_monetary,extra_float_digits," +
        "IntervalStyle,statement_timeout,lock_timeout,idle_in_transaction_session_timeout,jit," +
        "standard_conforming_strings,row_security,default_transaction_isolation," +
        "array_nulls,timezone_abbreviations,xmloption,xmlbinary,quote_all_identifiers," +
        "gin_fuzzy_search_limit," +
        "client_connection_check_interval,max_parallel_workers_per_gather";
      for (const mode of ["transaction", "session"] as const) {
        const ignoring = await startPooler(program, url, { mode, settings, connections: 5 });
        try {
          const found = mode === "session"
            ? /^warning connection +local, through a pooler\n +- a pooler drops the settings/m
            : /^ERROR +connection .* in transaction mode\n +ERROR .* ROWGATE_PREPARE is on/m;
          assertMatch(await look(ignoring, "on"), found);
        } finally {
          await ignoring.stop();
        }
      }
    });

    it("names the setting to change when the pooler does not pass on session settings [DB25]", async () => {
      const DATABASE_URL = pooler.through(pooled.database.servingUrl!);
      const { code, err } = await runRowgate(["serve"], { DATABASE_URL, PORT: "0" });
      assertEquals(code, 1);
      assertMatch(err, /^rowgate: a pooler [^\n]*; set ROWGATE_PREPARE=off \(\w+\)\n$/);
    });
  });
}
