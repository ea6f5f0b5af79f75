import { assertEquals } from "@std/assert";
import { before, it } from "@std/testing/bdd";
import { waitUntil } from "../support/wait_until.ts";
import { assertOk, assertRejectedAt, valuesOf } from "./assert_response.ts";
import { describeService } from "./describe_service.ts";

/** A column, the value as the client writes it, and the text of what Postgres holds then. */
const STORED: readonly (readonly [column: string, sent: string, held: string])[] = [
  ["c_text", "1.50", "1.50"],
  ["c_text", "1E5", "1E5"],
  ["c_text", "1.0", "1.0"],
  ["c_text", "-0", "-0"],
  ["c_text", "-0.10e-2", "-0.10e-2"],
  ["c_varchar", "1.50", "1.50"],
  ["c_char", "1.50", "1.50"],
  ["c_numeric", "1.500", "1.500"],
  ["c_numeric", "1E5", "100000"],
  ["c_numeric", "0.00", "0.00"],
  ["c_numeric_10_2", "1.5000", "1.50"],
  ["c_float8", "1.500", "1.5"],
  ["c_int4", "1.0", "1"],
  ["c_int4", "1E5", "100000"],
  ["c_bool", "1.0", "true"],
  ["c_money", "1.50", "$1.50"],
  ["c_json", "1.10", "1.10"],
  ["c_jsonb", "1.10", "1.10"],
  ["c_jsonb", '{"a": [1.10, "1,]\\"2"]}', '{"a": [1.10, "1,]\\"2"]}'],
  ["a_text", '[1.50, "x", 1E5, null, 2]', "{1.50,x,1E5,NULL,2}"],
  ["a_numeric", "[1.500, 2, 2.0]", "{1.500,2,2.0}"],
  ["a_int4", "[1.0, 1E2]", "{1,100}"],
  ["a_jsonb", "[1.10, null]", "{1.10,NULL}"],
  ["a_jsonb", '[ {"a": 1.10} ]', '{"{\\"a\\": 1.10}"}'],
  ["a_jsonb", '["[,", [1.0, {}], 2]', '{"\\"[,\\"","[1.0, {}]",2}'],
  ["a_jsonb", "[]", "{}"],
];

/** Texts that only their digits distinguish: which row a number in a filter finds, as the client writes it. */
const FOUND: readonly (readonly [condition: string, ids: number[]])[] = [
  ['{"field": "label", "op": "eq", "value": 1.5}', [1]],
  ['{"field": "label", "op": "eq", "value": 1.50}', [2]],
  ['{"field": "label", "op": "neq", "value": 1.50}', [1, 3]],
  ['{"field": "label", "op": "in", "value": [1.50, 7]}', [2]],
  ['{"field": "label", "op": "in", "value": [7, 1E5]}', [3]],
  ['{"field": "label", "op": "not_in", "value": [1.50, 1.5]}', [3]],
  ['{"field": "label", "op": "between", "value": [1.50, 1.50]}', [2]],
  ['{"field": "label", "op": "gt", "value": 1.5}', [2, 3]],
  ['{"field": "short", "op": "eq", "value": 1.50}', [2]],
  ['{"field": "exact", "op": "eq", "value": 1.50}', [1, 2]],
  ['{"field": "doc", "op": "eq", "value": 1.50}', [1, 2]],
  ['{"field": "id", "op": "eq", "value": 2.0}', [2]],
  ['{"field": "id", "op": "in", "value": [2.0, 0.1E1]}', [1, 2]],
];

describeService("the digits of numbers", ({ query, single, bulk, run }) => {
  before(async () => {
    await run(`create table digits (id int4 primary key, tenant_id int4,
        c_text text, c_varchar varchar(20), c_char char(4), c_numeric numeric,
        c_numeric_10_2 numeric(10, 2), c_float8 float8, c_int4 int4, c_bool bool, c_money money,
        c_json json, c_jsonb jsonb, a_text text[], a_numeric numeric[], a_int4 int4[], a_jsonb jsonb[]);
      create table marks (id int4 primary key, tenant_id int4, label text collate "C", short varchar(5),
        exact numeric, doc jsonb, hit int4);
      grant select, update on digits, marks to rowgate_app;
      insert into digits values (1, 1);
      insert into marks values (1, 1, '1.5', '1.5', 1.5, '1.5'), (2, 1, '1.50', '1.50', 1.50, '1.50'),
        (3, 1, '1E5', '1E5', 1E5, '1E5')`);
    await waitUntil(async () => (await query("digits")).status === 200);
    await waitUntil(async () => (await query("marks")).status === 200);
  });

  for (const [column, sent, held] of STORED) {
    it(`stores ${sent} in ${column} with the digits that were sent [TV30] [V11]`, async () => {
      const raw = `{"filters": {"id": 1.0}, "fields": {"${column}": ${sent}}}`;
      for (const [update, updated] of [[single, 1], [bulk, 0]] as const) {
        const response = await update("digits", undefined, { raw });
        assertEquals(assertOk(response)["updated"], updated);
        if (update === single) {
          assertEquals(
            response.text.includes(`"fields":{"${column}": ${sent}}`),
            true,
            response.text,
          );
        }
        const rows = await run(`select ${column}::text held from digits`);
        assertEquals(rows, [{ held }]);
      }
      await run("update digits set " + column + " = null");
    });
  }

  for (const [condition, ids] of FOUND) {
    it(`finds by ${condition} the number that was written with these digits [TV30] [V11]`, async () => {
      const deep = `{"or": [{"and": [${condition}]}, {"or": []}]}`;
      for (const filter of [`{"and": [${condition}]}`, deep]) {
        const raw = `{"filters": ${filter}, "sort": [{"field": "id"}], "page": 1.0}`;
        assertEquals(valuesOf(await query("marks", undefined, { raw }), "id"), ids);
      }
    });
  }

  it("takes the digits in the filters of an update too [TV30] [V11]", async () => {
    for (const update of [single, bulk]) {
      const raw = '{"filters": {"label": 1.50, "id": 2.0}, "fields": {"hit": 1.0}}';
      assertOk(await update("marks", undefined, { raw }));
      assertEquals(await run("update marks set hit = 0 where hit = 1 returning id"), [{ id: 2 }]);
    }
  });

  it("keeps the digits of a long body, and rejects those that no double holds [TV30] [V11] [TV6]", async () => {
    const fill = "1.50, ".repeat(2000);
    const raw = `{"filters": {"id": 1}, "fields": {"a_text": [${fill}"x"]}}`;
    assertOk(await single("digits", undefined, { raw }));
    const [row] = await run(
      "select count(*)::int4 n from digits, unnest(a_text) e where e = '1.50'",
    );
    assertEquals(row, { n: 2000 });
    const json = `{"filters": {"id": 1}, "fields": {"a_jsonb": [${"[1.50], ".repeat(2000)}1.0]}}`;
    assertOk(await single("digits", undefined, { raw: json }));
    const [stored] = await run(
      "select count(*)::int4 n from digits, unnest(a_jsonb) e where e::text = '[1.50]'",
    );
    assertEquals(stored, { n: 2000 });
    const lossy = '{"filters": {"id": 1}, "fields": {"c_text": 0.1234567890123456789}}';
    assertRejectedAt(await single("digits", undefined, { raw: lossy }), "fields.c_text", "string");
  });
});
