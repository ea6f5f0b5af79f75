import { assert, assertEquals } from "@std/assert";
import { after, before, describe, it } from "@std/testing/bdd";
import type { Column, Table } from "../../../src/catalogue/catalogue.ts";
import { planQuery } from "../../../src/plan/query_plan.ts";
import { operatorsOf } from "../../../src/plan/condition.ts";
import { parseQueryRequest } from "../../../src/request/query_request.ts";
import { compileQuery } from "../../../src/sql/query.ts";
import { explain } from "../../sql/explained.ts";
import { createTestDatabase, DATABASE_KINDS, type TestDatabase } from "../../support/database.ts";
import { makeAccess } from "../../support/table.ts";
import { examineDatabase, findingsOf } from "./examine_database.ts";
import { readFix } from "./read_fix.ts";

const CHECK = "indexes for searches";
const ROWS = 4000;
/** Columns of each type that has one of the operators: the type, and a value that is another in each row. */
const COLUMNS: readonly (readonly [name: string, type: string, value: string])[] = [
  ["a_text", "text", "'row ' || n"],
  ["a_varchar", "varchar(20)", "'row ' || n"],
  ["a_char", "char(20)", "'row ' || n"],
  ["a_name", "name", "'row ' || n"],
  ["a_byte", `"char"`, "chr(33 + n % 90)"],
  ["a_label", "label", "'row ' || n"],
  ["a_padded", "padded_label", "'row ' || n"],
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
  ["folded", "text collate folded", "'row ' || n"],
  ["folded_char", "char(20) collate folded", "'row ' || n"],
  ["cases", "citext", "'row ' || n"],
];

for (const kind of DATABASE_KINDS) {
  describe(`doctor on indexes for searches (${kind})`, () => {
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
        create table large (id int4 primary key, tenant_id int4 not null, pay numeric, ids xid[],
          point point, ${list});
        create table small (id int4 primary key, tenant_id int4 not null, name text);
        create table lines (id int4 primary key, large_id int4 not null references large, note text);
        create table words (id int4 primary key, word text);
        insert into large select n, 1 + n % 2, n, null, null, ${
        columns.map(([, , value]) => value).join(", ")
      } from generate_series(1, ${ROWS}) n;
        insert into small select n, n % 2, 'n' from generate_series(1, 50) n;
        insert into lines select n, n, 'line ' || n from generate_series(1, 50) n;
        create index on large (tenant_id); create index on small (tenant_id);
        create index on lines (large_id);
        analyze large, small, lines, words;
        grant select, update on large, small, lines, words to public`);
    });
    after(() => test.drop());

    const policy = {
      tables: {
        lines: { tenant_via: { columns: ["large_id"], table: "large" } },
        words: { shared: true },
      },
    };
    /** As if the tables were large: what doctor reads of them is an estimate. */
    const examine = async () => {
      await test.admin`update pg_class set reltuples = 1000000
        where relname in ('large', 'lines', 'words')`;
      let large: Table | undefined;
      const found = await examineDatabase(test, {
        policy,
        change: (catalogue) => {
          large = catalogue.tables.get("large");
          return catalogue;
        },
      });
      await test.admin`analyze large, lines, words`;
      return { found, large: large! };
    };

    it("names them for each column that has the operators, and finds them then [Q109] [R53]", async () => {
      const { found } = await examine();
      const [large, lines, words, ...others] = found.get(CHECK)!.findings;
      assertEquals(others, []);
      const names = columns.map(([name]) => name).join(", ");
      assert(large!.what.endsWith(` on ${names}`), large!.what);
      assertEquals(lines!.what, "no index of lines serves starts_with and ilike on note");
      assert(large!.why.endsWith("all rows of the tenant, about 500,000"), large!.why);
      assert(lines!.why.endsWith("all rows of the tenant, about 500,000"), lines!.why);
      assert(words!.why.endsWith("all rows, about 1,000,000"), words!.why);
      for (const { kind, text } of [large!, lines!, words!].flatMap(({ fix }) => readFix(fix))) {
        const advised = /: (create index .*;)$/.exec(text)?.[1];
        if (kind === "statement") await test.admin.unsafe(text);
        else if (advised !== undefined && isReal) await test.admin.unsafe(advised);
      }
      assertEquals(findingsOf((await examine()).found, CHECK), []);
    });

    it("names those that the statements of the operators use [Q110]", async () => {
      const { large } = await examine();
      for (const [name, , value] of columns) {
        const column = large.columns.get(name)!;
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
            ...{ table: large, access: makeAccess(), count: false, wideNumbersAsText: false },
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

    it("leaves no other column that has such an operator without an index [Q110]", async () => {
      const { large } = await examine();
      const having = [...large.columns.values()].filter((column) =>
        operatorsOf(column).some((op) => op === "starts_with" || op === "contains")
      );
      assertEquals(having.map(({ name }) => name), columns.map(([name]) => name));
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
