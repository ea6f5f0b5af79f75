import { assert, assertEquals } from "@std/assert";
import { before, it } from "@std/testing/bdd";
import { FIXTURE_POLICY } from "../support/fixture_policy.ts";
import { waitUntil } from "../support/wait_until.ts";
import { assertOk, assertRejected } from "./assert_response.ts";
import { describeService } from "./describe_service.ts";

/** What triggers get wrong without raising anything themselves, by the note that sets it off. */
const FAULTS: Readonly<Record<string, string>> = {
  case: "case new.id when 7 then null; end case",
  ambiguous: "perform note from causes a, causes b",
  "no sequence value": "perform currval('numbers')",
  "read only": "set transaction_read_only = on; update causes set id = id where false",
  "no statement": "execute 'execute gone'",
  "no cursor": "execute 'move next in gone'",
  commit: "commit",
  recursion: "perform endless(1)",
  "too many": "perform (select n from generate_series(1, 2) n)",
  "no schema": "perform gone.gone()",
  division: "perform 1 / (new.id - new.id)",
};

const SCHEMA = `
create sequence numbers;
create function endless(n int4) returns int4 language plpgsql as $$ begin return endless(n + 1); end $$;
create table causes (id int4 primary key, tenant_id int4 not null, note text);
insert into causes values (1, 1, 'old');
create function go_wrong() returns trigger language plpgsql as $$ begin
  ${
  Object.entries(FAULTS).map(([note, text]) => `if new.note = '${note}' then ${text}; end if;`)
    .join("\n  ")
}
  if new.note <> 'no return' then return new; end if;
end $$;
create trigger go_wrong before update on causes for each row execute function go_wrong();
create materialized view early as select tenant_id, id from causes with no data;
create view over_early as select tenant_id, id from early;
create view wide as select n as id, 1 as tenant_id, repeat(md5(n::text), 50) as text
  from generate_series(1, 3000) n;
grant usage on sequence numbers to public;
grant select, update on causes to public;
grant select on early, over_early, wide to public;`;

const EXPOSED = { expose: true, primary_key: ["id"] };
const POLICY = {
  tables: { ...FIXTURE_POLICY.tables, early: EXPOSED, over_early: EXPOSED, wide: EXPOSED },
};

describeService("What goes wrong in the database", (conversation) => {
  const { kind, query, single, bulk, get, run, service } = conversation;
  const faults = Object.keys(FAULTS)
    // The stack of PGlite ends before its limit on the depth of calls, and the database with it.
    .filter((fault) => kind === "real" || fault !== "recursion");
  before(async () => {
    await run(SCHEMA);
    await waitUntil(async () => (await query("wide", { per_page: 1 })).status === 200);
  });

  /** Asserts that the service never took the database for one that is away. */
  async function assertThere(): Promise<void> {
    const warnings = service().observations.flatMap((one) =>
      one.kind === "warning" && one.message.includes("not available") ? [one.message] : []
    );
    assertEquals(warnings, []);
    assertEquals((await get("/readyz", { token: null })).status, 200);
  }

  it("answers 400 for any error inside a trigger [E49]", async () => {
    for (const note of [...faults, "no return"]) {
      const body = { filters: { id: 1 }, fields: { note } };
      for (const update of [single, bulk]) {
        const error = assertRejected(await update("causes", body), 400);
        const expected = note === "recursion" ? "too complex" : "The database refused the change";
        assert(error.includes(expected), `${note}: ${error}`);
      }
    }
    assertOk(await single("causes", { filters: { id: 1 }, fields: { note: "new" } }));
    await assertThere();
  });

  it("reports that a materialized view must be filled, without Retry-After [E50] [E51]", async () => {
    for (const table of ["early", "over_early"]) {
      for (const accept of ["application/json", "application/x-ndjson"]) {
        const response = await query(table, {}, { headers: { accept } });
        assertRejected(response, 503, "must be filled first");
        assertEquals(response.headers.has("retry-after"), false);
      }
    }
    await assertThere();
    await run("refresh materialized view early");
    assertOk(await query("over_early"));
  });

  it("reports that a request needs too many temporary files, without calling the database unavailable [E51]", async () => {
    // PGlite has no temporary files of its own, nor sessions that could be ended.
    if (kind === "embedded") return;
    await run(`do $$ declare change text; begin
      foreach change in array array['temp_file_limit = 0', 'work_mem = ''64kB'''] loop
        execute format('alter role rowgate_app in database %I set ', current_database()) || change;
      end loop;
    end $$`);
    await run(`select pg_terminate_backend(pid) from pg_stat_activity
      where usename = 'rowgate_app' and datname = current_database()`);
    await waitUntil(async () => (await query("causes")).status === 200);
    service().forget();
    for (const accept of ["application/json", "application/x-ndjson"]) {
      const body = { sort: [{ field: "text" }] };
      const response = await query("wide", body, { headers: { accept } });
      const error = assertRejected(response, 400);
      assertEquals(error, "The request needs more temporary files than the database allows");
    }
    await assertThere();
  });
}, { policy: POLICY });
