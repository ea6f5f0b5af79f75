import { assertEquals, assertMatch, assertNotEquals } from "@std/assert";
import { it } from "@std/testing/bdd";
import { waitUntil } from "../support/wait_until.ts";
import { assertMatched, assertOk, assertRejected, assertRejectedAt } from "./assert_response.ts";
import { describeService } from "./describe_service.ts";

const REPRESENTATION = { prefer: "return=representation" };
const STALE = /^If-Match: the row has another version by now/;

describeService("If-Match", ({ kind, one, single, bulk, batch, run, service }) => {
  const etagOf = async (table: string, search: string) =>
    (await one(table, search)).headers.get("etag") ?? "";
  const rename = (id: number, name: string, headers: Record<string, string>) =>
    single("guests", { filters: { id }, fields: { name } }, { headers });
  const nameOf = async (id: number) =>
    (await run(`select name from guests where id = ${id}`))[0]?.["name"];

  it("lets an update through whose row still has the version, and no other [OR11]", async () => {
    const etag = await etagOf("guests", "id=1");
    assertEquals(assertOk(await rename(1, "first", { "if-match": etag }))["updated"], 1);
    assertRejected(await rename(1, "second", { "if-match": etag }), 412, STALE);
    assertEquals(await nameOf(1), "first");
    await run("update guests set name = name where id = 1");
    const since = await etagOf("guests", "id=1");
    await run("update guests set name = 'theirs' where id = 1");
    assertRejected(await rename(1, "third", { "if-match": since }), 412, STALE);
    assertEquals(await nameOf(1), "theirs");
  });

  it("is 412 for an old version though the row holds the values already [OR11]", async () => {
    const etag = await etagOf("guests", "id=2");
    await run("update guests set name = 'held' where id = 2");
    assertRejected(await rename(2, "held", { "if-match": etag }), 412, STALE);
    const { updated } = assertOk(
      await rename(2, "held", { "if-match": await etagOf("guests", "id=2") }),
    );
    assertEquals(updated, 0);
  });

  it("holds without the key too, and says first how many rows match [OR11] [OR12]", async () => {
    const etag = await etagOf("events_log", "kind=login&amount=4&at=2026-01-01T00:04:00Z");
    const headers = { "if-match": etag };
    const filters = { kind: "login", amount: 4, at: "2026-01-01T00:04:00Z" };
    const update = (fields: unknown) => single("events_log", { filters, fields }, { headers });
    assertOk(await update({ kind: "seen" }));
    assertMatched(await update({ kind: "seen" }), 404, 0);
    await run("update events_log set kind = 'login' where kind = 'seen'");
    assertRejected(await update({ kind: "seen" }), 412, STALE);
    const several = single("events_log", { filters: { amount: 1 }, fields: { kind: "x" } }, {
      headers,
    });
    assertMatched(await several, 409, 6);
    assertMatched(await rename(99, "none", { "if-match": etag }), 404, 0);
  });

  it("takes one of several tags, any version for *, and a weak tag for none [OR13]", async () => {
    const etag = await etagOf("guests", "id=3");
    assertRejected(await rename(3, "weak", { "if-match": `W/${etag}` }), 412, STALE);
    assertRejected(await rename(3, "other", { "if-match": '"other"' }), 412, STALE);
    assertRejected(await rename(3, "quoted", { "if-match": '"' + "a,b" + '", W/"c"' }), 412, STALE);
    assertOk(await rename(3, "listed", { "if-match": `"x", W/"y" ,${etag}` }));
    assertOk(await rename(3, "any", { "if-match": "*" }));
    assertMatched(await rename(99, "any", { "if-match": "*" }), 404, 0);
    const theirs = await etagOf("guests", "id=2");
    assertRejected(await rename(3, "of another row", { "if-match": theirs }), 412, STALE);
  });

  it("is 400 where it is no list of tags, and on every other write [OR13] [VR3]", async () => {
    for (const header of ["", "x", '"x', "*, *", '"x" "y"', 'w/"x"', '"x"y', ",", '"a b"']) {
      assertRejected(await rename(3, "x", { "if-match": header }), 400, /^If-Match: /);
    }
    const headers = { "if-match": "*" };
    const row = { filters: { id: 3 }, fields: { name: "x" } };
    assertRejected(await bulk("guests", row, { headers }), 400, /^If-Match: /);
    assertRejected(await batch("guests", { updates: [row] }, { headers }), 400, /^If-Match: /);
  });

  it("lets exactly one of ten writers with the same version through [OR11] [VR4]", async () => {
    for (const filters of [{ id: 5 }, { name: "contended" }]) {
      await run("update guests set name = 'contended' where id = 5");
      const headers = { "if-match": await etagOf("guests", "id=5") };
      const responses = await Promise.all(
        Array.from(
          { length: 10 },
          (_, n) => single("guests", { filters, fields: { name: `writer ${n}` } }, { headers }),
        ),
      );
      const won = responses.flatMap(({ status }, n) => status === 200 ? [n] : []);
      assertEquals(won.length, 1);
      assertEquals(await nameOf(5), `writer ${won[0]}`);
      const statuses = new Set(responses.map(({ status }) => status));
      assertEquals([...statuses].every((status) => [200, 412, 404].includes(status)), true);
    }
  });

  it("gives the first answer again for the same key, and keeps no 412 [OR11] [IK8]", async () => {
    const etag = await etagOf("guests", "id=1");
    const headers = { "if-match": etag, "idempotency-key": `"version-${kind}"` };
    const first = await rename(1, "keyed", headers);
    assertOk(first);
    const again = await rename(1, "keyed", headers);
    assertEquals([again.text, again.headers.get("idempotent-replayed")], [first.text, "true"]);
    assertRejected(await rename(1, "keyed", { ...headers, "if-match": "*" }), 422);
    const other = { "if-match": etag, "idempotency-key": `"stale-${kind}"` };
    assertRejected(await rename(1, "keyed", other), 412, STALE);
    assertRejected(await rename(1, "keyed", other), 412, STALE);
    assertEquals(await run("select 1 from rowgate.idempotency_keys where answer ~ 'null'"), []);
  });

  it("writes no row of the audit, and nothing with tx=rollback [OR11]", async () => {
    const audited = () =>
      run("select count(*)::int4 n from rowgate.audit where operation = 'update_single'");
    const before = await audited();
    const headers = { "if-match": '"old"', "prefer": "tx=rollback" };
    assertRejected(await rename(1, "never", { "if-match": '"old"' }), 412, STALE);
    assertRejected(await rename(1, "never", headers), 412, STALE);
    const etag = await etagOf("guests", "id=1");
    assertOk(await rename(1, "rolled back", { ...headers, "if-match": etag }));
    assertEquals(await etagOf("guests", "id=1"), etag);
    assertEquals(await audited(), before);
    assertOk(await rename(1, "kept", { "if-match": etag }));
  });

  it("is 412 on a view, whose rows have no versions, and its records have no ETag [OR14]", async () => {
    await run(
      "create view guests_view as select * from guests; grant select, update on guests_view to rowgate_app",
    );
    await waitUntil(async () => (await one("guests_view", "id=1")).status === 200);
    const response = await one("guests_view", "id=1");
    assertOk(response);
    assertEquals(response.headers.get("etag"), null);
    for (const header of ["*", '"x"']) {
      const update = { filters: { id: 1 }, fields: { name: "view" } };
      const refused = await single("guests_view", update, { headers: { "if-match": header } });
      assertRejected(refused, 412, /^If-Match: rows of this table have no versions/);
    }
  });

  it("tells another tenant nothing: neither 412 nor a version [OR11] [VR5]", async () => {
    const token = service().tokens.b;
    const etag = await etagOf("guests", "id=1");
    const update = { filters: { id: 1 }, fields: { name: "stolen" } };
    for (const header of [etag, '"x"', "*"]) {
      assertMatched(
        await single("guests", update, { token, headers: { "if-match": header } }),
        404,
        0,
      );
    }
  });
}, {
  environment: { ROWGATE_AUDIT: "on" },
  policy: {
    tables: {
      guests_view: { expose: true, writable: true, primary_key: ["id"] },
    },
  },
});

describeService(
  "return=representation",
  ({ kind, one, query, single, bulk, batch, run, service }) => {
    const headers = REPRESENTATION;

    const appear = (table: string) => waitUntil(async () => (await query(table)).status === 200);

    async function stored(table: string, field: string, value: unknown) {
      const filters = { and: [{ field, op: "eq", value }] };
      return (assertOk(await query(table, { filters }))["records"] as unknown[])[0];
    }

    it("gives the row as it is stored after triggers, with its version [OR15] [OR16]", async () => {
      const update = { filters: { fid: 7 }, fields: { note: "seen", amount: 1.5 } };
      const response = await single("deals", update, { headers });
      const body = assertOk(response);
      assertEquals(Object.keys(body), [
        "success",
        "table",
        "matched",
        "updated",
        "fields",
        "record",
      ]);
      assertEquals(body["record"], await stored("deals", "fid", 7));
      assertEquals("secret_score" in (body["record"] as object), false);
      assertEquals(response.headers.get("preference-applied"), "return=representation");
      assertEquals(response.headers.get("etag"), (await one("deals", "fid=7")).headers.get("etag"));
      assertEquals(response.headers.get("cache-control"), "no-store");
      assertMatch(response.text, /"amount":1\.5000/);
    });

    it("gives the row that holds the values already, and follows the key or not [OR15]", async () => {
      for (const filters of [{ fid: 7 }, { external_no: 7, note: "seen" }]) {
        const update = { filters, fields: { note: "seen" } };
        const response = await single("deals", update, { headers });
        const { updated, record } = assertOk(response);
        assertEquals([updated, record], [0, await stored("deals", "fid", 7)]);
        assertEquals(
          response.headers.get("etag"),
          (await one("deals", "fid=7")).headers.get("etag"),
        );
      }
      const moved = { filters: { external_no: 7, note: "seen" }, fields: { note: "moved" } };
      assertEquals(
        assertOk(await single("deals", moved, { headers }))["record"],
        await stored("deals", "fid", 7),
      );
      const frozen = { filters: { id: 6 }, fields: { name: "touched" } };
      const { record } = assertOk(await single("frozen", frozen, { headers }));
      assertEquals((record as Record<string, unknown>)["touched"], 1);
    });

    it("has nothing else in the body of a request that does not ask, or of one that fails [OR15]", async () => {
      const update = { filters: { fid: 7 }, fields: { note: "plain" } };
      for (const prefer of ["return=minimal", "wait=1"]) {
        const response = await single("deals", update, { headers: { prefer } });
        assertEquals("record" in assertOk(response), false);
        assertEquals([response.headers.get("etag"), response.headers.get("preference-applied")], [
          null,
          null,
        ]);
      }
      const missing = { filters: { fid: 0 }, fields: { note: "x" } };
      assertMatched(await single("deals", missing, { headers }), 404, 0);
    });

    it("of a batch is in each of the results, in order [OR15]", async () => {
      const updates = [
        { filters: { id: 1 }, fields: { name: "one" } },
        { filters: { name: "one" }, fields: { name: "two" } },
        { filters: { id: 2 }, fields: { name: "other" } },
        { filters: { id: 2 }, fields: { name: "other" } },
      ];
      const response = await batch("guests", { updates }, { headers });
      const record = (id: number, name: string) => ({ id, tenant_id: 1, name });
      assertEquals(assertOk(response)["results"], [
        { matched: 1, updated: 1, record: record(1, "one") },
        { matched: 1, updated: 1, record: record(1, "two") },
        { matched: 1, updated: 1, record: record(2, "other") },
        { matched: 1, updated: 0, record: record(2, "other") },
      ]);
      assertEquals(response.headers.get("etag"), null);
      assertEquals(response.headers.get("preference-applied"), "return=representation");
    });

    it("is 400 on bulk [OR17]", async () => {
      const update = { filters: { id: 1 }, fields: { name: "x" } };
      assertRejected(
        await bulk("guests", update, { headers }),
        400,
        /^Prefer: "return=representation"/,
      );
    });

    it("is kept with the answer for an idempotency key, of single and batch [OR15] [IK1]", async () => {
      const key = (name: string) => ({ ...headers, "idempotency-key": `"${name}-${kind}"` });
      for (const filters of [{ fid: 8 }, { external_no: 8 }]) {
        const update = { filters, fields: { amount: "12345678901234.5678" } };
        const options = { headers: key(Object.keys(filters)[0]!) };
        const first = await single("deals", update, options);
        assertOk(first);
        await run("update deals set note = 'later' where fid = 8");
        const again = await single("deals", update, options);
        assertEquals(again.text, first.text);
        assertEquals(again.headers.get("etag"), first.headers.get("etag"));
        assertNotEquals(
          again.headers.get("etag"),
          (await one("deals", "fid=8")).headers.get("etag"),
        );
      }
      const updates = [{ filters: { id: 3 }, fields: { name: "kept" } }];
      const first = await batch("guests", { updates }, { headers: key("batch") });
      await run("update guests set name = 'later' where id = 3");
      assertEquals(
        (await batch("guests", { updates }, { headers: key("batch") })).text,
        first.text,
      );
    });

    it("needs a token that may query, since it is a read [OR18] [VR6]", async () => {
      const token = await service().issue({ scopes: ["update"] });
      const update = { filters: { id: 1 }, fields: { name: "blind" } };
      assertRejected(await single("guests", update, { token, headers }), 403, '"query"');
      assertRejected(
        await batch("guests", { updates: [update] }, { token, headers }),
        403,
        '"query"',
      );
      assertOk(await single("guests", update, { token }));
    });

    it("with tx=rollback gives the row as it would be [OR15]", async () => {
      const both = { prefer: "return=representation, tx=rollback" };
      const update = { filters: { id: 4 }, fields: { name: "would be" } };
      const { record } = assertOk(await single("guests", update, { headers: both }));
      assertEquals((record as Record<string, unknown>)["name"], "would be");
      assertNotEquals((await stored("guests", "id", 4)) as unknown, record);
    });

    it("gives a row that a trigger changed behind the update, by key, without it and in a batch [OR16]", async () => {
      await run(`
      create function sum_up() returns trigger language plpgsql as $$
      begin
        if pg_trigger_depth() = 1 then update late set total = new.price * 2 where id = new.id; end if;
        return null;
      end $$;
      create table late (id int4 primary key, tenant_id int4 not null, price int4, total int4);
      insert into late values (1, 1, 1, 0), (2, 1, 2, 0), (3, 2, 3, 0);
      create trigger late_sum after update on late for each row execute function sum_up();
      grant select, insert, update, delete on late to rowgate_app`);
      await appear("late");
      for (const [filters, price] of [[{ id: 1 }, 5], [{ price: 5 }, 6], [{ id: 1 }, 6]] as const) {
        const response = await single("late", { filters, fields: { price } }, { headers });
        const { record } = assertOk(response);
        assertEquals(record, { id: 1, tenant_id: 1, price, total: price * 2 });
        assertEquals(response.headers.get("etag"), (await one("late", "id=1")).headers.get("etag"));
      }
      const updates = [1, 2].map((id) => ({ filters: { id }, fields: { price: 10 + id } }));
      const { results } = assertOk(await batch("late", { updates }, { headers }));
      assertEquals(
        (results as { record: { total: number } }[]).map(({ record }) => record.total),
        [22, 24],
      );
    });

    it("gives a row that moves to another partition [OR15]", async () => {
      const update = {
        filters: { id: 2, sensor: "sensor 2" },
        fields: { reading: 7.5 },
      };
      const { record } = assertOk(await single("measurements", update, { headers }));
      assertEquals(record, await stored("measurements", "id", 2));
      await run(`
      create table parts (id int4, tenant_id int4 not null, region text not null) partition by list (region);
      create table parts_n partition of parts for values in ('n');
      create table parts_s (extra int4, region text not null, tenant_id int4 not null, id int4);
      alter table parts_s drop column extra;
      alter table parts attach partition parts_s for values in ('s');
      insert into parts values (1, 1, 'n');
      grant select, insert, update, delete on parts to rowgate_app`);
      await appear("parts");
      for (const region of ["s", "n", "s"]) {
        const response = await single("parts", { filters: { id: 1 }, fields: { region } }, {
          headers,
        });
        assertEquals(assertOk(response)["record"], { id: 1, tenant_id: 1, region });
      }
    });

    it("is 400, and writes nothing, where the record is larger than a page may be [OR19]", async () => {
      await run("update staff set job = repeat('x', 70000) where id = 1");
      const update = { filters: { id: 1 }, fields: { name: "large" } };
      const refused = await single("staff", update, { headers });
      assertRejected(refused, 400, /^Prefer: the record of return=representation is larger than/);
      assertEquals((await run("select name from staff where id = 1"))[0]?.["name"], "Person 1");
      assertOk(await single("staff", update));
      assertRejectedAt(await one("staff", "id=1"), "select", "larger than");
      assertOk(await one("staff", "id=1&select=id,name"));
    });
  },
  { environment: { ROWGATE_MAX_PAGE_BYTES: "65536" } },
);

describeService("return=representation in another time zone", ({ single, query, run }) => {
  it("prints times in UTC, while triggers see the zone of the database [OR15] [U61]", async () => {
    await run(`
      create table clocks (id int4 primary key, tenant_id int4 not null, at timestamptz, zone text);
      insert into clocks values (1, 1, '2026-01-01 00:00Z', '');
      create function zoned() returns trigger language plpgsql as $$
      begin new.zone := current_setting('TimeZone'); return new; end $$;
      create trigger clocks_zone before update on clocks for each row execute function zoned();
      grant select, update on clocks to rowgate_app`);
    await waitUntil(async () => (await query("clocks")).status === 200);
    for (const filters of [{ id: 1 }, { tenant_id: 1 }]) {
      const update = { filters, fields: { at: "2026-05-01T12:00:00+09:00" } };
      const { record } = assertOk(await single("clocks", update, { headers: REPRESENTATION }));
      assertEquals(record, {
        id: 1,
        tenant_id: 1,
        at: "2026-05-01T03:00:00+00:00",
        zone: "Asia/Tokyo",
      });
      const page = assertOk(await query("clocks"));
      assertEquals((page["records"] as unknown[])[0], record);
      await run("update clocks set at = now()");
    }
  });
}, { environment: { ROWGATE_TIME_ZONE: "Asia/Tokyo" } });
