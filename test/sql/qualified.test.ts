import { assert, assertEquals, assertThrows } from "@std/assert";
import { after, before, describe, it } from "@std/testing/bdd";
import { readdir, readFile } from "node:fs/promises";
import { qualify } from "../../src/database/postgres/qualify.ts";
import { collapseSpace } from "../../src/database/postgres/statements.ts";
import { SCHEMA_STATEMENTS } from "../../src/database/schema/statements.ts";
import { createTestDatabase, type TestDatabase } from "../support/database.ts";

const GOLDEN = new URL("./golden/", import.meta.url);

describe("qualify", () => {
  let database: TestDatabase;
  let texts: string[];

  before(async () => {
    database = await createTestDatabase("real", "empty");
    const { admin } = database;
    for (const text of SCHEMA_STATEMENTS) await admin.unsafe(text);
    await admin.unsafe(`create schema app;
      create table app.deals (id int8 primary key, tenant_id int4 not null, status text,
        amount numeric, day date, tags text[]);
      create table app.orders (no int4 primary key, tenant_id int4 not null);
      create table app.lines (id int8 primary key, order_id int4 references app.orders,
        quantity int4)`);
    const files = (await readdir(GOLDEN)).sort();
    texts = await Promise.all(
      files.map(async (file) =>
        collapseSpace((await readFile(new URL(file, GOLDEN), "utf8")).trim())
      ),
    );
  });
  after(() => database.drop());

  /** Prints the plan that a statement has for any values; it has every expression in parentheses. */
  async function explain(text: string): Promise<string> {
    const session = await database.admin.reserve();
    try {
      await session.unsafe("set plan_cache_mode = force_generic_plan");
      await session.unsafe(`prepare one as ${text}`);
      const parameters = new Set(text.match(/\$\d+/g)).size;
      const values = parameters === 0 ? "" : `(${Array(parameters).fill("null").join(", ")})`;
      const rows = await session.unsafe(`explain (verbose, costs off) execute one${values}`);
      await session.unsafe("deallocate one");
      return rows.map((row) => row["QUERY PLAN"]).join("\n");
    } finally {
      session.release();
    }
  }

  it("changes the meaning of no statement [TE25]", async () => {
    for (const text of texts) assertEquals(await explain(qualify(text)), await explain(text), text);
  });

  it("leaves nothing to qualify [TE25]", () => {
    for (const text of texts.map(qualify)) {
      assertEquals(qualify(text), text);
      const bare = text.replaceAll(/operator\([^)]*\)|"[^"]*"|'[^']*'/g, "x")
        .replaceAll(/ set x = |, x = /g, " ");
      assert(!/[=<>~@]|\|\||(?<![.\w])(?:count|concat|json_agg|unnest|now)\(/.test(bare), bare);
    }
  });

  it("keeps the order in which operators bind [TE25]", async () => {
    for (
      const text of [
        "select 2 + 3 * 4 - 5 - 6, 2 * 3 + 4, 7 - (2 - 1), 2 ^ 3 * 2",
        "select 'a' = 'b' || 'c', 'a' || 'b' = 'ab', 1 + 1 < 3 and not 2 * 2 = 5",
        "select 3 between 1 + 1 and 2 * 2 and true, 3 not in (1, 2 + 1), 3 in (select 3)",
        "select 'ab' like 'a' || '%', 'ab' not ilike 'A' || 'b', 1 + 1 in (2) is true",
        "select case 1 + 1 when 2 then 'two' else 'none' end || '!', nullif(1 + 1, 2)",
        "select 1 is distinct from 2 - 1, 2 is not distinct from 1 + 1, -1 - -2, - (3 - 2)",
        "select now() at time zone 'UTC' - interval '1 hour' < now() at time zone 'UTC' + interval '1 day'",
        "select (array[1, 2])[1 + 1] = 2, (1, 2) < (1, 3), (1, 2) in ((1, 2), (3, 4)), 5 & 4 = 4",
        "select count(*) filter (where x > 1), sum(x) over () - x d from generate_series(1, 3) x group by x",
        "select e.n, p.x from unnest(array['a', 'b']) with ordinality e (n, p) join (values (1), (2)) as p (x) on p.x = e.p",
        `select left('abc', 2), 'b' collate "C" > 'a', 'x'::"char" = 'x', 1.50::numeric(4, 2)::text`,
      ]
    ) {
      const run = async (text: string) => await database.admin.unsafe(text).values();
      const qualified = qualify(text);
      assertEquals(String(await run(qualified)), String(await run(text)), qualified);
    }
  });

  it("compares values of two types, literals without a type and NULL as Postgres does [TE25]", async () => {
    const values = ["null", "'3'", "3", "3::int8", "3::numeric", "4::int2", "$1"];
    const compare = (left: string, right: string) =>
      `${left} is distinct from ${right}, ${left} is not distinct from ${right},
        ${left} in (${right}, 4), ${left} not in (4, ${right}), nullif(${left}, ${right})::text,
        ${left} between ${right} and 4`;
    const rows = ["(v.a, v.b)", "('a', 3)", "row('a', $1)", "(v.a, null)", "('b', 4::int8)"];
    const compareRows = (left: string, right: string) =>
      `${left} = ${right}, ${left} <> ${right}, ${left} <= ${right}, ${left} in (${right}, ('a', 4)),
        ${left} not in (('b', 4), ${right}), ${left} in (select v.a, 3::numeric),
        ${left} not in (select 'c'::text, 3), ${left} = any (select v.a, 4)`;
    const selects = [
      "(to_jsonb(v) ->> 'a') is distinct from 'a', 'a' is not distinct from v.a || ''",
      "v.a is distinct from upper('a'), not 'b' is distinct from v.a and v.b is null",
      ...values.map((right) => compare("v.b", right)),
      ...values.map((right) => `case v.b when ${right} then 'same' when null then 'none' end`),
      ...values.map((left) => compare(left, "v.b")),
      ...rows.map((right) => compareRows("(v.a, v.b)", right)),
      ...rows.map((left) => compareRows(left, "(v.a, v.b)")),
    ];
    const from = "from (values ('a', 3), ('b', 4), ('c', null)) v (a, b)";
    for (const select of selects) {
      const text = `select ${select} ${from} where $1::int4 > 0`;
      const run = async (text: string) => await database.admin.unsafe(text, [3]).values();
      assertEquals(await run(qualify(text)), await run(text), qualify(text));
    }
  });

  it("refuses to compare rows as distinct, which Postgres does value by value [TE25]", () => {
    for (const [left, right] of [["(a, b)", "c"], ["a", "row(b, c)"], ["row(a)", "row(b)"]]) {
      for (const word of ["is distinct from", "is not distinct from"]) {
        assertThrows(
          () => qualify(`select ${left} ${word} ${right} from app.deals`),
          Error,
          "rows",
        );
      }
    }
  });

  it("finds no planted operator or function, even where the path has public first [TE25]", async () => {
    const planted = await readFile(new URL("./planted.sql", import.meta.url), "utf8");
    await database.admin.unsafe(planted);
    const [row] = await database.admin`select current_database() as name`;
    await database.admin.unsafe(
      `alter database "${row!["name"]}" set search_path = public, pg_catalog`,
    );
    const session = await database.admin.reserve();
    try {
      await session.unsafe("set search_path = public, pg_catalog");
      const [count] = await session`select pg_catalog.count(*)::pg_catalog.text as planted
        from pg_catalog.pg_operator o
        where o.oprnamespace operator(pg_catalog.=) 'public'::pg_catalog.regnamespace`;
      assert(Number(count!.planted) > 500, count!.planted);
      for (const text of texts) {
        await session.unsafe(`prepare one as ${qualify(text)}`);
        const parameters = new Set(text.match(/\$\d+/g)).size;
        const values = parameters === 0 ? "" : `(${Array(parameters).fill("null").join(", ")})`;
        await session.unsafe("set plan_cache_mode = force_generic_plan");
        // The path makes it print what is not of pg_catalog with its schema.
        await session.unsafe("set search_path = pg_catalog");
        const plan = await session.unsafe(`explain (verbose, costs off) execute one${values}`);
        const printed = plan.map((line) => line["QUERY PLAN"]).join("\n");
        assert(!/operator\(public|public\./i.test(printed), printed);
        await session.unsafe("set search_path = public, pg_catalog");
        await session.unsafe("deallocate one");
      }
    } finally {
      session.release();
    }
  });
});
