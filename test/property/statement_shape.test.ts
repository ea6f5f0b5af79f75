import { assert, assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import type { Arbitrary } from "fast-check";
import type { Column, SqlText } from "../../src/catalogue/catalogue.ts";
import type { ValueKind } from "../../src/catalogue/value_kind.ts";
import { planQuery } from "../../src/records/plan/query_plan.ts";
import { planUpdate } from "../../src/records/plan/update_plan.ts";
import { parseQueryRequest } from "../../src/request/query_request.ts";
import { parseUpdateRequest } from "../../src/request/update_request.ts";
import { compileQuery } from "../../src/records/sql/query.ts";
import { compileUpdateBulk } from "../../src/records/sql/update_bulk.ts";
import { compileUpdateSingle } from "../../src/records/sql/update_single.ts";
import { arbitraryGroup, arbitrarySort } from "../support/arbitraries.ts";
import { ORACLE_COLUMNS } from "../support/oracle_columns.ts";
import { columnOf, type OracleFilter } from "../support/oracle.ts";
import { makeAccess, makeColumn, makeTable } from "../support/table.ts";
import { checkLaw } from "./check_law.ts";
import { printStatement } from "../support/print_statement.ts";
import fc from "fast-check";

const KINDS: Readonly<Record<string, ValueKind>> = {
  i4: "int4",
  i8: "int8",
  num: "numeric",
  f8: "float8",
  txt: "text",
  plain: "text",
  flag: "boolean",
  uid: "uuid",
  day: "other",
  at: "other",
  colour: "enum",
};
const TYPES: Readonly<Record<string, string>> = { day: "date", at: "timestamptz" };
const TABLE = makeTable([makeColumn("bucket", "int2"), ...ORACLE_COLUMNS.map(describeColumn)]);
const ACCESS = makeAccess();

describe("the text of a statement", () => {
  it("depends on the shape of a query and on whether its page is first, later or deep [P10] [FS24]", async () => {
    const law = fc.asyncProperty(
      arbitraryGroup().chain((group) => fc.tuple(respell(group), respell(group))),
      arbitrarySort(),
      fc.constantFrom(...PAGES).chain((page) => fc.tuple(arbitraryPage(page), arbitraryPage(page))),
      // deno-lint-ignore require-await
      async (filters, sort, pages) => {
        const [one, other] = [0, 1].map((which) =>
          printQuery({ filters: filters[which], sort, ...pages[which] })
        );
        assertEquals(one!.text, other!.text);
        assertTextOnly(one!);
      },
    );
    await checkLaw(law, { runs: 1000 });
  });

  it("depends only on the shape of an update, for both updates [P10]", async () => {
    const columns = fc.subarray([...ORACLE_COLUMNS], { minLength: 1 });
    const law = fc.asyncProperty(
      fc.tuple(columns, columns).chain(([filters, fields]) => {
        const entries = (names: typeof filters) =>
          fc.tuple(
            ...names.map((column) => spell(column.name).map((v) => [column.name, v] as const)),
          )
            .map((pairs): Record<string, unknown> => Object.fromEntries(pairs));
        const body = fc.record({ filters: entries(filters), fields: entries(fields) });
        return fc.tuple(body, body);
      }),
      // deno-lint-ignore require-await
      async ([one, other]) => {
        for (const compile of [compileUpdateSingle, compileUpdateBulk]) {
          const [first, second] = [one, other].map((body) => {
            const options = {
              table: TABLE,
              access: ACCESS,
              maxAffected: undefined,
              rollback: false,
            };
            const plan = planUpdate(parseUpdateRequest(body), options);
            return printStatement((sql) => compile(sql, plan));
          });
          assertEquals(first!.text, second!.text);
          assertTextOnly(first!);
        }
      },
    );
    await checkLaw(law, { runs: 500 });
  });
});

/** What a parameter is cast to: text, or a type that Postgres would read again for each row. @see P33 */
const CAST = /\$\d+::(?:text\b|pg_catalog\.(?:date|timestamptz)\b|"pg_catalog"\."oracle_colour")/g;

/** Every parameter is a string or null, and cast: the driver has nothing to serialise. */
function assertTextOnly({ text, parameters }: ReturnType<typeof printStatement>): void {
  assert(parameters.every((value) => value === null || typeof value === "string"), text);
  assertEquals([...text.matchAll(CAST)].length, parameters.length, text);
  assertEquals(text.match(/\$\d+::text::pg_catalog\.(?:date|timestamptz)\b/), null, text);
}

function printQuery(body: unknown): ReturnType<typeof printStatement> {
  const options = { table: TABLE, access: ACCESS, count: true, wideNumbersAsText: false };
  const plan = planQuery(parseQueryRequest(body), options);
  return printStatement((sql) => compileQuery(sql, plan));
}

function describeColumn({ name, type }: { name: string; type: string }): Column {
  const labels = name === "colour" ? columnOf(name).cells : undefined;
  const base = TYPES[name] ?? KINDS[name]!;
  const cast = name in TYPES
    ? `pg_catalog.${base}` as SqlText
    : `"pg_catalog"."${name === "colour" ? type : base}"` as SqlText;
  return makeColumn(name, KINDS[name]!, { type: base, cast, labels });
}

/**
 * Pages whose statements may differ: the limit of a first one is hidden from the planner, and one with
 * 1,000 rows or more before it may be read by keys.
 */
const PAGES = [{ min: 1, max: 1 }, { min: 2, max: 5 }, { min: 1001, max: 1e6 }];

function arbitraryPage(page: typeof PAGES[0]): Arbitrary<{ page: number; per_page: number }> {
  return fc.record({ page: fc.integer(page), per_page: fc.integer({ min: 1, max: 300 }) });
}

/** The same filter with other values, and lists of other lengths; null stays where it is. */
function respell(filter: OracleFilter): Arbitrary<unknown> {
  if ("combine" in filter) {
    return fc.tuple(...filter.items.map(respell)).map((items) => ({ [filter.combine]: items }));
  }
  const { field, op, cells } = filter;
  if (op === "is_null" || op === "is_not_null") return fc.constant({ field, op });
  const value = spell(field);
  if (op.endsWith("like") || op === "starts_with") {
    return fc.constantFrom("%", "a", "50\\%", "").map((value) => ({ field, op, value }));
  }
  if (op === "between") return fc.tuple(value, value).map((value) => ({ field, op, value }));
  if (op !== "in" && op !== "not_in") {
    return cells[0] === null
      ? fc.constant({ field, op, value: null })
      : value.map((value) => ({ field, op, value }));
  }
  const hasNull = cells.includes(null);
  if (hasNull && cells.every((cell) => cell === null)) {
    return fc.constant({ field, op, value: [null] });
  }
  return fc.array(value, { minLength: 1, maxLength: 9 }).map((values) => ({
    field,
    op,
    value: hasNull ? [...values, null] : values,
  }));
}

/** A value of a column in any spelling. */
function spell(name: string): Arbitrary<string | number | boolean> {
  const column = columnOf(name);
  return fc.constantFrom(...column.cells, ...column.spellings.map(({ json }) => json));
}
