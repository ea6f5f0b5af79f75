import { assert, assertEquals } from "@std/assert";
import { before, it } from "@std/testing/bdd";
import { awaitFeeds, enableFeeds } from "../support/feeds.ts";
import { FIXTURE_POLICY } from "../support/fixture_policy.ts";
import { createRaiseInC } from "../support/raise_in_c.ts";
import type { ReceivedResponse } from "../support/send.ts";
import { IS_REMOTE } from "../support/service.ts";
import { SQLSTATES } from "../support/sqlstates.ts";
import { waitUntil } from "../support/wait_until.ts";
import { assertRejected } from "./assert_response.ts";
import { describeService } from "./describe_service.ts";

/** The first of each class, and those that mean something else than their class. */
const SOME = SQLSTATES.filter((code, place) =>
  code.slice(0, 2) !== SQLSTATES[place - 1]?.slice(0, 2) ||
  /^(22012|23502|23514|25006|25P02|40003|42501|42601|42P05|53[14]00|55000|57P01|HV00N)$/.test(code)
);

const SCHEMA = `
create function fail(code text) returns bool immutable language plpgsql as $$ begin
  if code is not null then raise exception 'a text of Postgres' using errcode = code; end if;
  return true;
end $$;
create function fail_on_update() returns trigger language plpgsql as $$ begin
  perform fail(new.note); return new;
end $$;
create table codes (id int4 primary key, tenant_id int4 not null, code text, note text);
insert into codes select n, 1, code, null
  from unnest(array[${SQLSTATES.map((code) => `'${code}'`)}]) with ordinality c (code, n);
create table watched (like codes including all);
insert into watched values (1, 1, null, null), (2, 1, null, null);
create trigger fail before update on codes for each row execute function fail_on_update();
create view failing_late as select n as id, tenant_id, code, repeat('x', 2000) as filler,
  case when n = 3000 then fail(code) else true end as sound from codes, generate_series(1, 3000) n;
create view failing as select id, tenant_id, code, fail(code) as sound from codes;
create table guarded_codes as select * from codes;
alter table guarded_codes add primary key (id);
alter table guarded_codes enable row level security;
create policy fail on guarded_codes using (fail(code));
grant select, update on codes, watched, guarded_codes, failing, failing_late to public;`;

const POLICY = {
  tables: {
    ...FIXTURE_POLICY.tables,
    failing: { expose: true, primary_key: ["id"] },
    failing_late: { expose: true },
  },
};
/** The statuses that a code of Postgres can have. */
const STATUSES = [400, 403, 409, 503, 504];
const idOf = (code: string) => 1 + SQLSTATES.indexOf(code);

describeService("Codes of Postgres", (conversation) => {
  const { kind, query, single, bulk, batch, get, run, service } = conversation;
  before(async () => {
    await run(SCHEMA);
    await waitUntil(async () => (await query("guarded_codes", { per_page: 1 })).status !== 404);
  });

  /** Tries codes, some at once: many are followed by a reading of the catalogue, one a second. */
  async function tryEach(
    codes: readonly string[],
    atOnce: number,
    act: (code: string) => Promise<void>,
  ): Promise<void> {
    for (let from = 0; from < codes.length; from += atOnce) {
      await Promise.all(codes.slice(from, from + atOnce).map(act));
    }
  }

  /** Asserts a refusal of the specification's shape, without a text of Postgres; gives the message. */
  function assertRefused(response: ReceivedResponse, code: string): string {
    const { status, text } = response;
    assert(STATUSES.includes(status), `${code}: ${text}`);
    // The text of class P0 is for clients, so that it may be there.
    if (!code.startsWith("P0")) return assertRejected(response, status);
    return String(response.body["error"]);
  }

  /** Asserts that the database was never taken for one that is away. */
  async function assertThere(): Promise<void> {
    const warnings = service().observations.flatMap((one) =>
      one.kind === "warning" && one.message.includes("not available") ? [one.message] : []
    );
    assertEquals(warnings, []);
    assertEquals((await get("/readyz", { token: null })).status, 200);
  }

  const listSessions = async () =>
    (await run(`select pid from pg_stat_activity
      where datname = current_database() and usename = 'rowgate_app'`)).map(({ pid }) => pid);

  it("are a 4xx or 503 when a trigger raises them, in every kind of update [E49] [E44] [E35]", async () => {
    const sessions = kind === "real" ? await listSessions() : [];
    await tryEach(kind === "real" ? SQLSTATES : SOME, 8, async (code) => {
      const body = { filters: { id: 1 }, fields: { note: code } };
      const updates = [{ filters: { id: 2 }, fields: { code: "old" } }, body];
      const messages = [assertRefused(await single("codes", body), code)];
      if (SOME.includes(code)) {
        messages.push(
          assertRefused(await bulk("codes", body), code),
          assertRefused(await batch("codes", { updates }), code),
        );
      }
      for (const message of messages) {
        assert(!message.includes("database is not available"), `${code}: ${message}`);
        assertEquals(message.endsWith("a text of Postgres"), code.startsWith("P0"), code);
      }
    });
    assertEquals(await run("select from codes where note is not null"), []);
    await assertThere();
    if (kind === "real") {
      const now = await listSessions();
      assertEquals(sessions.filter((pid) => !now.includes(pid)), [], "a session was ended");
    }
  });

  it("are a 4xx or 503 when a view or a policy raises them in a query [E49] [E44]", async () => {
    await tryEach(kind === "real" ? SQLSTATES : SOME, 8, async (code) => {
      const filters = { and: [{ field: "id", op: "eq", value: idOf(code) }] };
      const responses = [await query("failing", { filters })];
      if (SOME.includes(code)) responses.push(await query("failing", { filters, per_page: 1 }));
      if (kind === "real" && SOME.includes(code)) {
        responses.push(await query("guarded_codes", { filters }));
      }
      for (const response of responses) {
        const message = assertRefused(response, code);
        assert(!message.includes("text of Postgres"), `${code}: ${message}`);
      }
    });
    await assertThere();
  });

  it("cut off an export that has begun, and give the status of one that has not [E49] [EX7]", async () => {
    const headers = { accept: "application/x-ndjson" };
    await tryEach(SOME, 2, async (code) => {
      const filters = { and: [{ field: "code", op: "eq", value: code }] };
      const select = ["sound"];
      assertRefused(await query("failing", { filters, select }, { headers }), code);
      const late = await query("failing_late", { filters }, { headers }).catch(() => "cut");
      assertEquals(late, "cut", code);
    });
    await assertThere();
  });

  it("are a 4xx or 503 when a policy raises them in a feed [E49] [E44]", async () => {
    if (kind === "embedded" || IS_REMOTE) return;
    await enableFeeds(service(), ["watched"]);
    await awaitFeeds(service(), ["watched"]);
    await run(`alter table watched enable row level security;
      create policy fail on watched using (fail(note))`);
    for (const code of SOME) {
      await run(`update watched set note = '${code}'`);
      const message = assertRefused(await get("/integration/tables/watched/changes"), code);
      assert(!message.includes("text of Postgres"), `${code}: ${message}`);
    }
    await assertThere();
  });

  it("have a message of their own and the right Retry-After when C code raises them [E49] [E50] [E51]", async () => {
    if (kind === "embedded") return;
    await createRaiseInC(service().database);
    await run(`create function fail_in_c() returns trigger language plpgsql as $$ begin
        if new.note is not null then perform raise_in_c(new.note); end if; return new;
      end $$;
      create trigger fail before update on watched for each row execute function fail_in_c();
      alter table watched disable row level security; update watched set note = null`);
    for (const code of SOME) {
      const response = await single("watched", { filters: { id: 1 }, fields: { note: code } });
      const message = assertRefused(response, code);
      assertEquals(message.includes("text of Postgres"), code.startsWith("P0"), code);
      assert(!message.includes("The database is not available"), `${code}: ${message}`);
      const mayHelp = /^(08|40|53|57|72|HV00N|55P03)/.test(code) &&
        !["40002", "53400", "57014"].includes(code);
      assertEquals(response.headers.has("retry-after"), mayHelp, `${code}: ${message}`);
    }
    await assertThere();
  });
}, { policy: POLICY });
