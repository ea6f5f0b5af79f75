import { assert } from "@std/assert";
import { after, before, describe, it } from "@std/testing/bdd";
import type { Column, Table } from "../../src/catalogue/catalogue.ts";
import { operatorsOf } from "../../src/records/plan/condition.ts";
import { planQuery } from "../../src/records/plan/query_plan.ts";
import { parseQueryRequest } from "../../src/request/query_request.ts";
import { compileQuery } from "../../src/records/sql/query.ts";
import { examineDatabase } from "../integration/doctor/examine_database.ts";
import { createTestDatabase, DATABASE_KINDS, type TestDatabase } from "../support/database.ts";
import { makeAccess } from "../support/table.ts";
import { explain } from "./explained.ts";

const ROWS = 4000;
/** Columns of each type that has one of the operators, with what an index of it is made of. */
const COLUMNS: readonly (readonly [name: string, type: string, value: string, text?: string])[] = [
  ["a_text", "text", "'row ' || n", "a_text"],
  ["a_varchar", "varchar(20)", "'row ' || n", "a_varchar"],
  ["a_char", "char(20)", "'row ' || n", "(a_char::text)"],
  ["a_name", "name", "'row ' || n", "(a_name::text)"],
  ["a_byte", `"char"`, "chr(33 + n % 90)", "(a_byte::text)"],
  ["a_label", "label", "'row ' || n", "a_label"],
  ["a_padded", "padded_label", "'row ' || n", "(a_padded::text)"],
  ["numbers", "int4[]", "array[n]"],
  ["texts", "varchar(20)[]", "array['row ' || n]"],
  ["blanks", "char(20)[]", "array['row ' || n]"],
  ["labels", "label[]", "array['row ' || n]"],
  ["pairs", "pair[]", "array[row(n, 'x')::pair]"],
  ["listed", "listing", "array[n]"],
  ["doc", "jsonb", "jsonb_build_object('n', n)"],
  ["described", "description", "jsonb_build_object('n', n)"],
  ["span", "int4range", "int4range(n, n + 1)"],
  ["during", "tstzrange", "tstzrange(to_timestamp(n * 9), to_timestamp(n * 9 + 1))"],
  ["distances", "distance", "distance(n, n + 1 + n % 9)"],
  [
    "days",
    "datemultirange",
    "datemultirange(daterange(date '2000-01-01' + n, date '2000-01-02' + n))",
  ],
  ["gaps", "distances_both", "distances_both(distance(n, n + 1 + n % 9))"],
];
/** Only where the cluster has what they need. */
const MORE: typeof COLUMNS = [
  ["folded", "text collate folded", "'row ' || n", `(folded::text collate "C")`],
  ["folded_char", "char(20) collate folded", "'row ' || n", `(folded_char::text collate "C")`],
  ["cases", "citext", "'row ' || n", "cases"],
];
/** Types whose indexes for `contains` are GiST, not GIN. */
const RANGES = /range$|^distance/;

for (const kind of DATABASE_KINDS) {
  describe(`indexes for searches (${kind})`, () => {
    let test: TestDatabase;
    const isReal = kind === "real";
    const columns = isReal ? [...COLUMNS, ...MORE] : COLUMNS;

    before(async () => {
      test = await createTestDatabase(kind, "empty");
      if (isReal) {
        await test.admin.unsafe(`create extension citext; create extension pg_trgm;
          create collation folded (provider = icu, locale = 'und-u-ks-level2', deterministic = false)`);
      }
      const list = columns.map(([name, type]) => `${name} ${type}`).join(", ");
      await test.admin.unsafe(`create domain label as text; create domain padded_label as char(20);
        create domain listing as int4[]; create domain description as jsonb;
        create type pair as (n int4, t text);
        create type distance as range (subtype = float8, subtype_diff = float8mi, multirange_type_name = distances_both);
        create table large (id int4 primary key, tenant_id int4 not null, ${list});
        insert into large select n, 1 + n % 2, ${columns.map(([, , value]) => value).join(", ")}
          from generate_series(1, ${ROWS}) n;
        grant select, update on large to public`);
      for (const [name, type, , text] of columns) {
        const others = RANGES.test(type) ? `using gist (${name})` : `using gin (${name})`;
        const prefix = `(tenant_id, ${text} text_pattern_ops)`;
        await test.admin.unsafe(`create index on large ${text === undefined ? others : prefix}`);
        if (text === undefined || !isReal) continue;
        await test.admin.unsafe(`create index on large using gin (${text} gin_trgm_ops)`);
      }
      await test.admin`analyze large`;
    });
    after(() => test.drop());

    it("are used by `starts_with`, `ilike` and `contains` on every column that has them [Q109] [Q110]", async () => {
      let large: Table | undefined;
      await examineDatabase(test, {
        change: (catalogue) => {
          large = catalogue.tables.get("large");
          return catalogue;
        },
      });
      for (const [name, , value] of columns) {
        const column = large!.columns.get(name)!;
        const [row] = await test.admin.unsafe(
          `select to_json(${value})::text as value from (values (776)) v (n)`,
        );
        const searches = searchesOf(column, JSON.parse(row!.value));
        assert(searches.length > 0, name);
        for (const [op, sought] of searches) {
          // Without the extension there is no index for a part of a text.
          if (op === "ilike" && !isReal) continue;
          const body = { filters: { and: [{ field: name, op, value: sought }] }, select: ["id"] };
          const plan = planQuery(parseQueryRequest(body), {
            ...{ table: large!, access: makeAccess(), count: false, wideNumbersAsText: false },
          });
          const { indexes, scanned } = await explain(
            test.admin,
            (sql) => compileQuery(sql, plan),
            "custom",
          );
          const own = indexes.filter((index) => index.includes(name));
          assert(own.length > 0, `${name} ${op}: ${indexes.join()} ${scanned.join()}`);
        }
      }
    });
  });
}

/** Conditions that few rows fulfil, one for each operator of the column. */
function searchesOf(column: Column, value: unknown): readonly (readonly [string, unknown])[] {
  const has = operatorsOf(column);
  const text = String(value);
  if (column.elementKind === "composite") return [["contains", "(776,x)"]];
  return [
    ...has.includes("starts_with") ? [["starts_with", text] as const] : [],
    ...has.includes("ilike") && text.length > 2 ? [["ilike", `%W ${text.slice(4)}%`] as const] : [],
    ...has.includes("contains") ? [["contains", value] as const] : [],
  ];
}
