import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { it } from "@std/testing/bdd";
import { checksumTenant } from "../support/checksum.ts";
import { waitUntil } from "../support/wait_until.ts";
import { IS_REMOTE } from "../support/service.ts";
import { assertMatched, assertOk, assertRejected, assertRejectedAt } from "./assert_response.ts";
import { describeService } from "./describe_service.ts";

const ROWS = 10_000;

describeService("attacks on updates", ({ kind, query, single, bulk, run, service }) => {
  const mine = () => checksumTenant(service().database.admin, 1);
  /** What of each row a write or a lock would change. */
  const versions = (table: string) =>
    run(
      `select md5(string_agg(tableoid || ' ' || ctid || ' ' || xmin || ' ' || xmax, ',' order by ctid)) as seen from ${table}`,
    );

  it("makes a table of many rows", async () => {
    await run(`create table crowd (id int4 primary key, tenant_id int4 not null, n int4, doc json,
        span interval, area box, constraint crowd_n_check check (n <> 13));
      insert into crowd select i, 1 + i % 2, 0, '{"a": 1}', 'P1M', '(1,1),(0,0)' from generate_series(1, ${ROWS}) i;
      grant select, update on crowd to rowgate_app`);
    await waitUntil(async () => (await query("crowd", { per_page: 1 })).status === 200);
  });

  it("counts very many matches exactly, and neither writes nor locks one [US4]", async () => {
    const before = await versions("crowd");
    const response = await single("crowd", { filters: { n: 0 }, fields: { n: 1 } });
    assertStringIncludes(assertMatched(response, 409, ROWS / 2), "bulk");
    const two = await single("deals", { filters: { stage: "won" }, fields: { note: "x" } });
    assertEquals(two.status, 409);
    assertEquals(await versions("crowd"), before);
  });

  it("rejects filters and fields that are missing, empty or no objects, without matched [US5] [US6] [UB4]", async () => {
    const before = await mine();
    const good = { filters: { fid: 1 }, fields: { note: "x" } };
    for (const update of [single, bulk]) {
      for (const member of ["filters", "fields"]) {
        for (const value of [undefined, {}, null, [], [{}], "", 0, false]) {
          assertRejectedAt(await update("deals", { ...good, [member]: value }), member);
        }
      }
    }
    assertEquals(await mine(), before);
  });

  it("rejects the key in any spelling, and knows a name only in its own case [US7]", async () => {
    const before = await mine();
    for (const name of ["fid", "FID", "Fid", '"fid"']) {
      for (const value of [1, null, false, "", 0]) {
        const body = { filters: { fid: 1 }, fields: { [name]: value, note: "x" } };
        for (const update of [single, bulk]) {
          assertStringIncludes(assertRejected(await update("deals", body), 400, /^fields/), "fid");
        }
      }
    }
    assertEquals(await mine(), before);
  });

  it("takes null for IS NULL, which a key or a NOT NULL column never is [US10]", async () => {
    for (const name of ["fid", "title", "closed"]) {
      const body = { filters: { [name]: null }, fields: { note: "x" } };
      assertMatched(await single("deals", body), 404, 0);
      assertEquals(assertOk(await bulk("deals", body))["updated"], 0);
    }
  });

  it("compares and sets: the second of two equal requests finds nothing [US11]", async () => {
    const body = { filters: { fid: 31, status: "on hold" }, fields: { status: "won" } };
    const first = assertOk(await single("deals", body));
    assertEquals([first["matched"], first["updated"]], [1, 1]);
    assertMatched(await single("deals", body), 404, 0);
  });

  it("responds with updated 1 when a trigger changes other columns besides [US16]", async () => {
    const at = () => run("select modified_at::text as at from deals where fid = 32");
    const before = await at();
    const body = { filters: { fid: 32 }, fields: { note: "trigger" } };
    assertEquals(assertOk(await single("deals", body))["updated"], 1);
    assert((await at())[0]?.["at"] !== before[0]?.["at"]);
  });

  it("stores changes that = does not see, in xml and citext [US17]", async () => {
    const [xml] = await run("select count(c_xml)::int4 as n from everything");
    const [members] = await run(
      "select count(*)::int4 as n from pg_class where relname = 'members'",
    );
    if (Number(xml?.["n"]) > 0) {
      for (const value of ["<a>1</a>", "<a>1</a >", '<a b="1">1</a>']) {
        const set = await single("everything", { filters: { id: 3 }, fields: { c_xml: value } });
        assertEquals(assertOk(set)["updated"], 1);
        assertEquals(await run("select c_xml::text as x from everything where id = 3"), [{
          x: value,
        }]);
      }
    }
    if (Number(members?.["n"]) > 0) {
      for (const email of ["MEMBER1@example.org", "member1@example.org"]) {
        const set = await single("members", { filters: { id: 1 }, fields: { email } });
        assertEquals(assertOk(set)["updated"], 1);
        assertEquals(await run("select email::text as e from members where id = 1"), [{
          e: email,
        }]);
      }
    }
  });

  it("responds to very many filters and fields with 200 or 400 [US22]", async () => {
    const columns = Array.from({ length: 400 }, (_, n) => `c${n}`);
    await run(
      `create table wide (id int4 primary key, tenant_id int4 not null, ${
        columns.map((name) => `${name} int4 default 1`).join(", ")
      });
      insert into wide (id, tenant_id) values (1, 1), (1001, 2); grant select, update on wide to rowgate_app`,
    );
    await waitUntil(async () => (await query("wide", { per_page: 1 })).status === 200);
    const all = (value: number) => Object.fromEntries(columns.map((name) => [name, value]));
    assertEquals(assertOk(await single("wide", { filters: all(1), fields: all(2) }))["updated"], 1);
    assertEquals(assertOk(await bulk("wide", { filters: all(2), fields: all(3) }))["updated"], 1);
    assertEquals((await run("select 1 from wide where c399 = 3")).length, 1);
    const unknown = Object.fromEntries(Array.from({ length: 20_000 }, (_, n) => [`x${n}`, n]));
    for (const update of [single, bulk]) {
      assertRejected(await update("wide", { filters: { id: 1 }, fields: unknown }), 400);
      assertRejected(await update("wide", { filters: unknown, fields: { c1: 1 } }), 400);
    }
  });

  it("responds with the fields as sent where the column rounds them [US24]", async () => {
    const fields = { amount: 1.23456 };
    assertEquals(
      assertOk(await single("deals", { filters: { fid: 33 }, fields }))["fields"],
      fields,
    );
    assertEquals(await run("select amount::text as a from deals where fid = 33"), [{
      a: "1.2346",
    }]);
  });

  it("changes very many rows, serves others meanwhile, and writes none the second time [UB9] [UB10]", async () => {
    const body = { filters: { n: 0 }, fields: { n: 1 } };
    let running = true;
    const first = bulk("crowd", body).finally(() => running = false);
    let served = 0;
    do {
      assertOk(await query("guests"));
      served++;
    } while (running);
    assertEquals(assertOk(await first)["updated"], ROWS / 2);
    assert(served >= 1);
    const before = await versions("crowd");
    const again = { filters: { n: 1 }, fields: { n: 1 } };
    assertEquals(assertOk(await bulk("crowd", again))["updated"], 0);
    assertEquals(await versions("crowd"), before);
    assertEquals(await run("select 1 from crowd where tenant_id = 2 and n <> 0"), []);
  });

  it("counts and stores changes of unit, place and case in bulk [UB12]", async () => {
    const filters = { tenant_id: 1 };
    for (const fields of [{ span: "P30D" }, { area: "(2,1),(1,0)" }]) {
      assertEquals(assertOk(await bulk("crowd", { filters, fields }))["updated"], ROWS / 2);
      assertEquals(assertOk(await bulk("crowd", { filters, fields }))["updated"], 0);
    }
    const stored =
      "select distinct area::text as a, span = 'P30D' and span::text <> 'P1M' as s from crowd where tenant_id = 1";
    assertEquals(await run(stored), [{ a: "(2,1),(1,0)", s: true }]);
  });

  it("treats json of the same bytes as unchanged, and other white space as a change [UB13]", async () => {
    await run(`update crowd set doc = '{"a":1}' where tenant_id = 1 and id <= 10`);
    const body = { filters: { tenant_id: 1 }, fields: { doc: { a: 1 } } };
    assertEquals(assertOk(await bulk("crowd", body))["updated"], ROWS / 2 - 5);
    assertEquals(assertOk(await bulk("crowd", body))["updated"], 0);
  });

  if (kind === "real" && !IS_REMOTE) {
    it("leaves all or nothing behind when the client disconnects in the middle [UB15]", async () => {
      await run(`create function dawdle() returns trigger language plpgsql as
          $$ begin if new.id % 200 = 2 then perform pg_sleep(0.02); end if; return new; end $$;
        create trigger crowd_dawdle before update on crowd for each row execute function dawdle()`);
      const counts = () =>
        run("select n, count(*)::int4 as rows from crowd where tenant_id = 1 group by n");
      const before = await counts();
      const controller = new AbortController();
      const request = new Request("http://127.0.0.1/integration/tables/crowd/records/bulk", {
        method: "PATCH",
        headers: {
          authorization: `Bearer ${service().tokens.a}`,
          "content-type": "application/json",
        },
        body: JSON.stringify({ filters: { n: 1 }, fields: { n: 2 } }),
        signal: controller.signal,
      });
      const response = service().app(request).catch(() => undefined);
      const waiting =
        "select 1 from pg_stat_activity where wait_event = 'PgSleep' and query like '%crowd%' and datname = current_database()";
      await waitUntil(async () => (await run(waiting)).length > 0);
      controller.abort();
      await response;
      const busy =
        "select 1 from pg_stat_activity where state = 'active' and pid <> pg_backend_pid() and datname = current_database() and query like '%crowd%'";
      await waitUntil(async () => (await run(busy)).length === 0);
      assertEquals(await counts(), before, "the statement was in its middle, and was cancelled");
      await run("drop trigger crowd_dawdle on crowd");
      assertOk(await bulk("crowd", { filters: { id: 2 }, fields: { n: 3 } }));
    });
  }

  it("leaves the rows of the other tenant unchanged [S10]", async () => {
    const others =
      "select 1 from crowd where tenant_id = 2 and (n <> 0 or doc::text <> '{\"a\": 1}')";
    assertEquals(await run(others), []);
  });
});
