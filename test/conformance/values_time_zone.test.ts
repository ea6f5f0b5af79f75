import { assert, assertEquals } from "@std/assert";
import { before, it } from "@std/testing/bdd";
import { assertOk, assertRejectedAt, recordsOf } from "./assert_response.ts";
import { describeService, type ServiceOptions } from "./describe_service.ts";

const SELECT = ["at", "local", "day", "spans", "times", "locals"];

/** A database that is not in UTC, and the ways in which the service can get a zone. */
const VARIANTS: readonly (readonly [string, string, ServiceOptions["environment"]])[] = [
  ["of the database", "America/New_York", {}],
  ["of the database, behind a pooler", "America/New_York", { ROWGATE_PREPARE: "off" }],
  ["of the configuration", "Asia/Tokyo", { ROWGATE_TIME_ZONE: "Asia/Tokyo" }],
];

for (const [title, zone, environment] of VARIANTS) {
  describeService(`Values, the time zone ${title}`, (service) => {
    const { kind, query, single, bulk, batch, get, run } = service;
    if (kind === "embedded" && environment?.["ROWGATE_PREPARE"] !== undefined) {
      return void it("needs no pooler when embedded", async () =>
        void assertOk(await query("deals")));
    }
    const find = async (field: string, op: string, value: unknown) =>
      recordsOf(
        await query("zoned", {
          filters: { and: [{ field, op, value }] },
          select: ["id"],
          sort: [{ field: "id" }],
        }),
      ).map((record) => record["id"]);
    /** Wall clock times of rows that a trigger has written, in seconds from those of the zone. */
    const readDelays = async () =>
      (await run(
        `select id, abs(extract(epoch from updated_at - (now() at time zone '${zone}')))::int8::text
          as delay from zoned where updated_at is not null order by id`,
      )).map(({ id, delay }) => [id, Number(delay) < 600]);

    before(async () => {
      const [row] = await run("select current_database() as name");
      await run(`alter database "${row!["name"]}" set timezone = 'America/New_York'`);
      await run(`
        create table zoned (
          id int4 primary key, tenant_id int4 not null, note text,
          at timestamptz, local timestamp, day date, clock timetz,
          spans tstzrange, times timestamptz[], locals timestamp[], updated_at timestamp);
        insert into zoned values
          (1, 1, 'a', '2026-07-01 12:00:00Z', '2026-07-01 08:00:00', '2026-07-01', '12:00Z',
            '[2026-07-01 12:00Z,2026-07-02 12:00Z)', '{2026-07-01 12:00Z}', '{2026-07-01 08:00}'),
          (2, 1, 'b', '2026-01-01 12:00:00Z', '2026-01-01 21:00:00', '2026-01-01', '13:00Z',
            null, '{}', '{2026-01-01 21:00}'),
          (3, 1, 'c', '0044-03-15 12:00:00Z BC', '-infinity', null, null, null, null, null),
          (4, 2, 'CANARY', now(), localtimestamp, current_date, null, null, null, null);
        create function touch() returns trigger language plpgsql as
          $$ begin new.updated_at := now(); return new; end $$;
        create trigger touch before update on zoned for each row execute function touch();
        grant select, update on zoned to rowgate_app`);
      for (let attempt = 0; attempt < 100; attempt++) {
        if ((await query("zoned")).status === 200) return;
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
    });

    it("prints timestamptz in UTC, and columns without zone as they are stored [V16] [V15]", async () => {
      const sort = [{ field: "id" }];
      const [first, , third] = recordsOf(await query("zoned", { select: SELECT, sort }));
      assertEquals(first, {
        at: "2026-07-01T12:00:00+00:00",
        local: "2026-07-01T08:00:00",
        day: "2026-07-01",
        spans: '["2026-07-01 12:00:00+00","2026-07-02 12:00:00+00")',
        times: ["2026-07-01T12:00:00+00:00"],
        locals: ["2026-07-01T08:00:00"],
      });
      assertEquals(third!["at"], "0044-03-15T12:00:00+00:00 BC");
      assertEquals(await find("at", "like", "2026-07-01 12:00:00+00"), [1]);
      const accept = { headers: { accept: "application/x-ndjson" } };
      const exported = await query("zoned", { select: SELECT, sort }, accept);
      assertEquals(JSON.parse(exported.text.split("\n")[0]!), first);
    });

    it("takes a timestamptz without zone as UTC in each operation [V12]", async () => {
      assertEquals(await find("at", "eq", "2026-07-01 12:00"), [1]);
      assertEquals(await find("at", "in", ["2026-07-01T12:00:00", "2026-01-01T07:00:00-05"]), [
        1,
        2,
      ]);
      assertEquals(await find("at", "lt", "0044-03-15 12:00:01 BC"), [3]);
      assertEquals(await find("at", "between", ["2026-01-01", "2026-01-02"]), [2]);
      assertEquals(await find("clock", "eq", "12:00"), [1]);
      const spans = "[2026-07-01 12:00,2026-07-02 12:00)";
      assertEquals(await find("spans", "eq", spans), [1]);
      assertEquals(await find("times", "eq", "{2026-07-01 12:00}"), [1]);
      for (const send of [single, bulk]) {
        for (
          const filters of [{ at: "2026-07-01 12:00" }, { spans }, { times: "{2026-07-01 12:00}" }]
        ) {
          assertOk(await send("zoned", { filters, fields: { note: "a" } }));
        }
      }
    });

    it("converts an offset to the zone of columns without zone [V13]", async () => {
      const at = zone === "Asia/Tokyo" ? "2026-06-30T23:00:00Z" : "2026-07-01T12:00:00Z";
      assertEquals(await find("local", "eq", at), [1]);
      assertEquals(await find("local", "in", [at, "2026-01-01 21:00"]), [1, 2]);
      assertEquals(await find("locals", "eq", `{${at}}`), [1]);
      assertOk(await single("zoned", { filters: { local: at }, fields: { note: "a" } }));
    });

    it("writes each value in its zone, in one statement and in transactions [V12] [V13] [U61]", async () => {
      const fields = {
        at: "2026-03-01 10:00",
        local: "2026-03-01T10:00:00+00:00",
        spans: "[2026-03-01,2026-03-02)",
        times: ["2026-03-01T10:00:00"],
        locals: ["2026-03-01T10:00:00Z"],
        day: "2026-03-01",
      };
      const local = zone === "Asia/Tokyo" ? "2026-03-01T19:00:00" : "2026-03-01T05:00:00";
      const written = {
        at: "2026-03-01T10:00:00+00:00",
        local,
        day: "2026-03-01",
        spans: '["2026-03-01 00:00:00+00","2026-03-02 00:00:00+00")',
        times: ["2026-03-01T10:00:00+00:00"],
        locals: [local],
      };
      const read = async (id: number) =>
        recordsOf(
          await query("zoned", {
            filters: { and: [{ field: "id", op: "eq", value: id }] },
            select: SELECT,
          }),
        )[0];
      const reset = () =>
        run("update zoned set at = null, local = null, spans = null where id < 3");
      assertOk(await single("zoned", { filters: { id: 1 }, fields }));
      assertEquals(await read(1), written);
      // The row holds the values already, whatever zone the session has by then.
      assertEquals(assertOk(await single("zoned", { filters: { id: 1 }, fields }))["updated"], 0);
      assertEquals(assertOk(await bulk("zoned", { filters: { note: "a" }, fields }))["updated"], 0);
      await reset();
      const updates = [{ filters: { id: 1 }, fields }, { filters: { note: "b" }, fields }];
      assertOk(await batch("zoned", { updates: [...updates, ...updates] }));
      assertEquals([await read(1), await read(2)], [written, written]);
      assertEquals(await readDelays(), [[1, true], [2, true]]);
    });

    it("runs triggers in the time zone of the database: single, by key, bulk and batch [U61]", async () => {
      for (
        const send of [
          () => single("zoned", { filters: { note: "b" }, fields: { note: "b1" } }),
          () => single("zoned", { filters: { id: 2 }, fields: { note: "b2" } }),
          () => bulk("zoned", { filters: { note: "b2" }, fields: { note: "b3" } }),
          () => batch("zoned", { updates: [{ filters: { id: 2 }, fields: { note: "b" } }] }),
        ]
      ) {
        await run(
          "alter table zoned disable trigger touch; update zoned set updated_at = null;" +
            "alter table zoned enable trigger touch",
        );
        assertOk(await send());
        assertEquals(await readDelays(), [[2, true]]);
      }
      // The statement that follows on the session is in UTC again.
      assertEquals(await find("at", "eq", "2026-03-01 10:00"), [1, 2]);
    });

    it("takes today in the zone of the column [V23]", async () => {
      await run(`alter table zoned disable trigger touch;
        update zoned set day = (now() at time zone '${zone}')::date,
          at = date_trunc('day', now() at time zone 'UTC') at time zone 'UTC' where id = 1`);
      assertEquals(await find("day", "eq", "today"), [1]);
      assertEquals(await find("day", "gt", "yesterday"), [1]);
      assertEquals(await find("at", "eq", "today"), [1]);
      assertEquals(await find("local", "gt", "now"), []);
      await run("alter table zoned enable trigger touch");
      const filters = { at: "today", day: "today" };
      assertOk(await single("zoned", { filters, fields: { note: "a" } }));
    });

    it("names the zone of columns without zone [T69]", async () => {
      const { fields } = assertOk(await get("/integration/tables/zoned/fields")) as {
        fields: { name: string; time_zone?: string }[];
      };
      const zones = fields.filter((field) => "time_zone" in field);
      assertEquals(zones.map(({ name }) => name), ["local", "day", "locals", "updated_at"]);
      assertEquals(new Set(zones.map((field) => field.time_zone)), new Set([zone]));
      const { text } = await get("/openapi.json");
      assert(text.includes(`(timestamp in the time zone ${zone})`));
    });

    it("rejects offsets in an array of several dimensions [V24]", async () => {
      const body = { filters: { id: 1 }, fields: { locals: "{{2026-01-01T00:00:00Z}}" } };
      assertRejectedAt(await single("zoned", body), "fields.locals");
    });
  }, { environment });
}
