import { assert, assertEquals, assertMatch } from "@std/assert";
import { before, it } from "@std/testing/bdd";
import { waitUntil } from "../support/wait_until.ts";
import { assertRejectedAt, recordsOf } from "./assert_response.ts";
import { describeService } from "./describe_service.ts";

describeService("Query, further operators", ({ query, run }) => {
  before(async () => {
    await run(`
      create type mood as enum ('sad', 'glad');
      create domain whole_list as int4[];
      create table shelf (id int4 primary key, tenant_id int4 not null, name text, padded char(4),
        numbers int4[], moods mood[], times timestamptz[], listed whole_list, doc jsonb, raw json, codes varchar(3)[], ids xid[],
        span int4range, during tstzrange, days datemultirange, prices numrange, wide int8range);
      insert into shelf (id, tenant_id, name, padded, numbers, moods, times, listed, doc, raw, span,
        during, days, prices) values
        (1, 1, 'Ångström 50%', 'ab', '{1,2,3}', '{sad}', '{2026-01-01T00:00Z}', '{7}',
          '{"a": {"b": 1.50, "c": [1, 2]}, "big": 12345678901234567890}', '{}',
          '[1,5)', '[2026-01-01Z,2026-02-01Z)', '{[2026-01-01,2026-01-05),[2026-02-01,2026-02-05)}',
          '[1.5,2.5]'),
        (2, 1, 'angstrom', 'AB', '{}', '{sad,glad}', null, '{8}', '["a", "b", {"k": null}]', null,
          'empty', '(,)', '{}', null),
        (3, 1, null, null, null, null, null, null, null, null, null, null, null, null),
        (4, 2, 'angstrom CANARY', 'ab', '{1,2,3}', '{sad}', null, '{7}', '{"a": {}}', '{}',
          '[1,5)', null, null, null);
      update shelf set codes = '{ab}', ids = '{1}' where id in (1, 4);
      insert into shelf (id, tenant_id, span, days, wide) values
        (5, 1, '(2147483646,)', '{[2027-02-04,)}', '(9223372036854775806,)'),
        (6, 1, '[9,2147483647)', '{[2027-01-01,5874897-12-31)}', '[9,9223372036854775807)');
      grant select, update on shelf to rowgate_app`);
    await waitUntil(async () => (await query("shelf")).status === 200);
  });

  const send = (field: string, op: string, value: unknown) =>
    query("shelf", {
      filters: { and: [{ field, op, value }] },
      select: ["id"],
      sort: [{ field: "id" }],
    });
  const find = async (field: string, op: string, value: unknown) =>
    recordsOf(await send(field, op, value)).map((record) => record["id"]);

  it("matches a pattern in any case [Q103]", async () => {
    assertEquals(await find("name", "ilike", "ANG%"), [2]);
    assertEquals(await find("name", "like", "ANG%"), []);
    assertEquals(await find("name", "not_ilike", "ANG%"), [1]);
    assertEquals(await find("name", "ilike", "%50\\%"), [1]);
    assertEquals(await find("padded", "ilike", "ab"), [1, 2]);
  });

  it("compares a char(n) without the blanks at its end [Q103] [Q104] [Q49]", async () => {
    for (
      const [op, value, ids] of [
        ["starts_with", "a", [1]],
        ["starts_with", "ab", [1]],
        ["starts_with", "ab ", []],
        ["like", "ab", [1]],
        ["like", "ab %", []],
        ["ilike", "%B", [1, 2]],
      ] as const
    ) assertEquals(await find("padded", op, value), [...ids], `${op} ${value}`);
  });

  it("finds texts that begin with a text, without wildcards [Q104]", async () => {
    assertEquals(await find("name", "starts_with", "Ång"), [1]);
    assertEquals(await find("name", "starts_with", "ang"), [2]);
    for (const value of ["a%", "_ng", "an\\g", "\\"]) {
      assertEquals(await find("name", "starts_with", value), [], value);
    }
    assertEquals(await find("name", "starts_with", "Ångström 50%"), [1]);
    assertEquals(await find("name", "starts_with", ""), [1, 2]);
  });

  it("finds an array that has an element, or several [Q105]", async () => {
    assertEquals(await find("numbers", "contains", 2), [1]);
    assertEquals(await find("numbers", "contains", [3, "1"]), [1]);
    assertEquals(await find("numbers", "contains", [3, 4]), []);
    assertEquals(await find("numbers", "contains", []), [1, 2]);
    assertEquals(await find("moods", "contains", "sad"), [1, 2]);
    assertEquals(await find("moods", "contains", ["glad", "sad"]), [2]);
    assertEquals(await find("listed", "contains", 7), [1]);
    assertEquals(await find("codes", "contains", "ab"), [1]);
    assertEquals(await find("codes", "contains", "longer than three"), []);
    // Without a zone it is UTC, as everywhere.
    assertEquals(await find("times", "contains", "2026-01-01 00:00"), [1]);
  });

  it("finds JSON that contains JSON, with every digit [Q106]", async () => {
    assertEquals(await find("doc", "contains", { a: { b: 1.5 } }), [1]);
    assertEquals(await find("doc", "contains", { a: { c: [2] } }), [1]);
    assertEquals(await find("doc", "contains", { a: { c: [3] } }), []);
    assertEquals(await find("doc", "contains", "a"), [2]);
    assertEquals(await find("doc", "contains", [{ k: null }, "b"]), [2]);
    assertEquals(await find("doc", "contains", {}), [1]);
  });

  it("finds a range that contains a value or a range [Q107]", async () => {
    assertEquals(await find("span", "contains", 4), [1]);
    assertEquals(await find("span", "contains", 5), []);
    assertEquals(await find("span", "contains", "[2,4]"), [1]);
    assertEquals(await find("span", "contains", "empty"), [1, 2, 5, 6]);
    assertEquals(await find("during", "contains", "2026-01-15"), [1, 2]);
    assertEquals(await find("during", "contains", "2026-02-01T00:30:00+01:00"), [1, 2]);
    assertEquals(await find("during", "contains", "[2026-01-15,)"), [2]);
    assertEquals(await find("days", "contains", "2026-02-04"), [1]);
    assertEquals(
      await find("days", "contains", "{[2026-01-01,2026-01-02),[2026-02-02,2026-02-03)}"),
      [1],
    );
    assertEquals(await find("days", "contains", "[2026-01-04,2026-02-02)"), []);
    assertEquals(await find("prices", "contains", 2.5), [1]);
    assertEquals(await find("prices", "contains", "2.51"), []);
  });

  it("finds a range that contains the last value of its type [Q107]", async () => {
    for (
      const [field, last, before] of [
        ["span", 2147483647, 2147483646],
        ["span", "2147483647", "2147483646"],
        ["wide", "9223372036854775807", "9223372036854775806"],
        ["days", "5874897-12-31", "5874897-12-30"],
      ] as const
    ) {
      const after = field === "days" ? [5, 6] : [6];
      assertEquals(await find(field, "contains", last), [5], field);
      assertEquals(await find(field, "contains", before), after, field);
    }
  });

  it("rejects values that do not fit, at their place [Q105] [Q107] [Q108] [Q46]", async () => {
    const at = "filters.and[0].value";
    assertRejectedAt(await send("numbers", "contains", "x"), at);
    assertRejectedAt(await send("numbers", "contains", [1, "x"]), `${at}[1]`);
    assertRejectedAt(await send("numbers", "contains", [1, null]), `${at}[1]`);
    assertRejectedAt(await send("numbers", "contains", { a: 1 }), at);
    assertRejectedAt(await send("moods", "contains", "angry"), at);
    assertRejectedAt(await send("numbers", "contains", Array(201).fill(1)), at);
    assertRejectedAt(await send("doc", "contains", { a: Array(200).fill(1) }), at);
    const some = (op: string, count: number) =>
      Array.from({ length: count }, () => ({ field: "numbers", op, value: Array(50).fill(1) }));
    const several = await query("shelf", { filters: { and: some("contains", 5) } });
    assertRejectedAt(several, "filters.and[4].value");
    assertEquals(
      recordsOf(await query("shelf", { filters: { and: some("contains", 4) } })).length,
      1,
    );
    assertRejectedAt(await send("span", "contains", "x"), at);
    assertRejectedAt(await send("span", "contains", [1, 2]), at);
    assertRejectedAt(await send("days", "contains", "2026-02-30"), at);
    for (const op of ["ilike", "not_ilike", "starts_with", "contains"]) {
      const field = op === "contains" ? "doc" : "name";
      assertMatch(assertRejectedAt(await send(field, op, null), at), /is_null/);
    }
  });

  it("suggests another operator where the type lacks the requested one [Q109]", async () => {
    const say = async (field: string, op: string) => {
      const error = assertRejectedAt(await send(field, op, "a"), "filters.and[0].op");
      return error.replace(/^filters\.and\[0\]\.op: /, "");
    };
    assertMatch(await say("name", "contains"), /expected like with "%text%"; it has eq, /);
    assertMatch(
      await say("id", "starts_with"),
      /expected like, which works on its text, with "text%"/,
    );
    assertMatch(await say("raw", "contains"), /expected like with "%text%"/);
    // An index of such an array cannot be, because its elements have no order.
    assertMatch(await say("ids", "contains"), /type xid\[\], expected/);
    assertMatch(await say("name", "icontains"), /expected ilike with "%text%"/);
    assertMatch(await say("name", "ends_with"), /expected like with "%text"/);
    assertMatch(await say("name", "startsWith"), /did you mean "starts_with"/);
    assertMatch(await say("doc", "@>"), /did you mean "contains"/);
    assertMatch(await say("name", "overlaps"), /contains/);
  });

  it("uses the indexes that the operators' page names [Q109]", async () => {
    await run(`insert into shelf (id, tenant_id, name, numbers, doc, during)
      select n, 1, 'name ' || n, array[n], jsonb_build_object('n', n),
        tstzrange('2020-01-01Z', '2020-01-02Z') from generate_series(1000, 6000) n;
      -- A copy: rows that were updated can keep an index unused while other transactions last.
      create table indexed as select * from shelf;
      create index on indexed (tenant_id, name text_pattern_ops);
      create index on indexed using gin (numbers);
      create index on indexed using gin (doc jsonb_path_ops);
      create index on indexed using gist (during); analyze indexed`);
    for (
      const [condition, index] of [
        ["name like 'name 5999%'", "tenant_id_name"],
        ["numbers @> '{5999}'", "numbers"],
        [`doc @> '{"n": 5999}'`, "doc"],
        ["during @> tstzrange('2026-01-15Z', '2026-01-16Z')", "during"],
      ] as const
    ) {
      const rows = await run(`explain select id from indexed where tenant_id = 1 and ${condition}`);
      const plan = rows.map((row) => row["QUERY PLAN"]).join("\n");
      assert(plan.includes(`indexed_${index}_idx`), plan);
    }
    assertEquals(await find("name", "starts_with", "name 5999"), [5999]);
    assertEquals(await find("numbers", "contains", 5999), [5999]);
    assertEquals(await find("doc", "contains", { n: 5999 }), [5999]);
  });
});
