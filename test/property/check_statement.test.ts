import { assert, assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import type { SqlText, Table } from "../../src/catalogue/catalogue.ts";
import { planQuery } from "../../src/records/plan/query_plan.ts";
import { planUpdate } from "../../src/records/plan/update_plan.ts";
import { parseQueryRequest } from "../../src/request/query_request.ts";
import { parseUpdateRequest } from "../../src/request/update_request.ts";
import { compileLock, compileUpdateSingle } from "../../src/records/sql/update_single.ts";
import { compileLookUps } from "../../src/records/sql/look_ups.ts";
import { compileQuery } from "../../src/records/sql/query.ts";
import { compileUpdateBulk } from "../../src/records/sql/update_bulk.ts";
import {
  compileDecision,
  compileUpdateWithRules,
} from "../../src/records/sql/update_with_rules.ts";
import { compileUpdateByKey } from "../../src/records/sql/update_by_key.ts";
import { type PrintedStatement, printStatement } from "../support/print_statement.ts";
import { makeAccess, makeColumn, makeTable } from "../support/table.ts";
import {
  checkStatement,
  checkStatementOfOne,
  type TenancyRules,
} from "../support/invariants/check_statement.ts";

const RULES = { schemas: ["app"], tenantColumn: "tenant_id", tables: { lists: { shared: true } } };
const ACCESS = makeAccess();
const TABLE = makeTable([makeColumn("status", "text"), makeColumn("amount", "numeric")]);
const SETTINGS = [{ name: "app.tenant_id", value: "1" }];
const FILTERS = {
  or: [{ field: "status", op: "is_null" }, { field: "id", op: "in", value: [1, 2] }],
};
const UPDATE = { filters: { id: 1, status: "or" }, fields: { amount: 1, status: null } };

const BY_COLUMN = {
  table: TABLE,
  rules: RULES,
  predicate: /"\$row"\."tenant_id" = \$\d+::text::"pg_catalog"\."int4"/g,
};
const BY_PATH = {
  table: makeTable([makeColumn("status", "text"), makeColumn("amount", "numeric")], {
    tenant: undefined,
    tenancy: {
      columns: [TABLE.tenant!],
      via: [
        {
          table: "shelves",
          identifier: `"app"."shelves"` as SqlText,
          source: `only "app"."shelves"` as SqlText,
          columns: ["shelf_no"],
          pairs: [{ from: `"shelf_no"` as SqlText, to: `"no"` as SqlText }],
        },
        {
          table: "stores",
          identifier: `"app"."stores"` as SqlText,
          source: `"app"."stores"` as SqlText,
          columns: ["region", "store"],
          pairs: ["region", "store"].map((name) => ({
            from: `"${name}"` as SqlText,
            to: `"${name}"` as SqlText,
          })),
        },
      ],
    },
  }),
  rules: {
    ...RULES,
    tables: {
      ...RULES.tables,
      deals: { tenant_via: { columns: ["shelf_no"], table: "shelves" } },
      shelves: { tenant_via: { columns: ["region", "store"], table: "stores" } },
    },
  },
  predicate: /"\$parent2"\."tenant_id" = \$\d+::text::"pg_catalog"\."int4"/g,
};
type Tenancy = Pick<typeof BY_COLUMN, "table" | "predicate"> & { readonly rules: TenancyRules };

const lookUp = (tenant: string, table: Table = TABLE) =>
  planQuery(
    parseQueryRequest({ filters: { and: [{ field: "id", op: "eq", value: 1 }] } }),
    { table, access: { ...ACCESS, tenant }, count: true, wideNumbersAsText: false },
  );

function listStatements(table: Table): Readonly<Record<string, PrintedStatement>> {
  const query = planQuery(
    parseQueryRequest({ filters: FILTERS, sort: [{ field: "amount" }], page: 2 }),
    { table, access: ACCESS, count: true, wideNumbersAsText: true },
  );
  const update = (maxAffected?: number) =>
    planUpdate(parseUpdateRequest(UPDATE), { table, access: ACCESS, maxAffected, rollback: false });
  return {
    "a query": printStatement((sql) => compileQuery(sql, query)),
    "a query with a setting": printStatement((sql) => compileQuery(sql, query, SETTINGS)),
    "look-ups": printStatement((sql) =>
      compileLookUps(sql, [lookUp("1", table), lookUp("1", table)])
    ),
    "a single update": printStatement((sql) => compileUpdateSingle(sql, update())),
    "a single update by key": printStatement((sql) => compileUpdateByKey(sql, update())),
    "a bulk update": printStatement((sql) => compileUpdateBulk(sql, update())),
    "a bulk update up to a number": printStatement((sql) => compileUpdateBulk(sql, update(3))),
    "the lock of a transaction": printStatement((sql) => compileLock(sql, update())),
    "the decision before rules": printStatement((sql) => compileDecision(sql, update())),
    "an update beside rules": printStatement((sql) => compileUpdateWithRules(sql, update(), 1)),
  };
}
const STATEMENTS = listStatements(TABLE);

/** The text with the predicate mutated, once for each place of the predicate. */
function mutate(
  text: string,
  { predicate }: Tenancy,
  mutant: (predicate: string) => string,
): string[] {
  return [...text.matchAll(predicate)].map(({ 0: predicate, index }) =>
    text.slice(0, index) + mutant(predicate) + text.slice(index + predicate.length)
  );
}

const collapse = (text: string) => text.replaceAll(/\s+/g, " ").replaceAll("( ", "(");

const check = (statement: PrintedStatement, tenant: string | undefined = "1") =>
  checkStatement(statement, { rules: RULES, tenant });

describe("the watch over statements", () => {
  for (const [how, tenancy] of [["column", BY_COLUMN], ["path", BY_PATH]] as const) {
    const { rules, table, predicate } = tenancy;
    const check = (statement: PrintedStatement, tenant: string | undefined = "1") =>
      checkStatement(statement, { rules, tenant });
    for (const [name, statement] of Object.entries(listStatements(table))) {
      it(`passes ${name}, which is bound by ${how} wherever it names the table [TE20]`, () => {
        assertEquals(check(statement), []);
        // An update is bound twice: the rows that it finds, and each row as it was written.
        const references = statement.text.match(/"app"\."deals"|\breturning\b/g)!.length;
        const bound = statement.text.match(predicate)!.length;
        // What finds its rows to write by other columns than the key looks at the path twice.
        assert(how === "path" ? bound >= references : bound === references);
      });

      it(`catches ${name} when any of its predicates by ${how} is left out or loosened [TE20]`, () => {
        const mutants = [
          () => "true",
          (predicate: string) => `(${predicate} or true)`,
          (predicate: string) => `${predicate} or true`,
          (predicate: string) => `not ${predicate}`,
          (predicate: string) => predicate.replace(" = ", " >= "),
          (predicate: string) => predicate.replace("tenant_id", "status"),
          (predicate: string) => predicate.replace(/\$\d+::text/, "'1'::text"),
          (predicate: string) => predicate.replace(/= .*$/, `= "$row"."tenant_id"`),
        ];
        for (const mutant of mutants) {
          const texts = mutate(statement.text, tenancy, mutant);
          assert(texts.length > 0);
          for (const text of texts) {
            assert(check({ ...statement, text }).length > 0, `not caught: ${text}`);
          }
        }
      });

      it(`catches ${name} when it is bound to another tenant by ${how}, or sent outside of a request [TE20]`, () => {
        assert(check(statement, "2").length > 0);
        assert(checkStatement(statement, { rules, tenant: undefined }).length > 0);
      });
    }
  }

  it("catches a path that skips a step, joins nothing, begins elsewhere or locks nothing [TE20] [T59]", () => {
    const { rules, table } = BY_PATH;
    const check = (text: string, statement: PrintedStatement) =>
      checkStatement({ ...statement, text }, { rules, tenant: "1" });
    const statements = listStatements(table);
    const update = statements["a single update by key"]!;
    for (
      const [from, to] of [
        [" for share", ""],
        [/"\$parent2"\."(region|store)" = "\$parent1"\."\1"/g, "true"],
        [`= "$row"."shelf_no"`, `= "$row"."id"`],
        [`= "$row"."shelf_no"`, `= "$parent1"."no"`],
        ["exists (", "not exists ("],
        [`only "app"."shelves" "$parent1",`, ""],
        [`only "app"."shelves"`, `only "app"."lists"`],
      ] as const
    ) {
      const text = collapse(update.text).replaceAll(from, to);
      assert(text !== collapse(update.text), String(from));
      assert(check(text, update).length > 0, `not caught: ${text}`);
    }
    assertEquals(check(collapse(update.text), update), []);
  });

  it("accepts look-ups of requests in flight, and no others [TE20]", () => {
    const statement = printStatement((sql) => compileLookUps(sql, [lookUp("1"), lookUp("2")]));
    const served = { rules: RULES, tenant: "1" };
    assertEquals(checkStatement(statement, { ...served, tenants: new Set(["1", "2"]) }), []);
    assertEquals(checkStatement(statement, { ...served, tenants: new Set(["1", "3"]) }).length, 1);
    const other = STATEMENTS["a query"]!;
    const tenants = new Set(["1", "2"]);
    assert(checkStatement(other, { rules: RULES, tenant: "2", tenants }).length > 0);
  });

  it("accepts a batched statement of a request in flight [TE20]", () => {
    const statement = STATEMENTS["a single update by key"]!;
    const findProblems = (statement: PrintedStatement, ...tenants: string[]) =>
      checkStatementOfOne(statement, { rules: RULES, tenants: new Set(tenants) });
    assertEquals(findProblems(statement, "2", "1"), []);
    assert(findProblems(statement, "2", "3").length > 0);
    assert(findProblems(statement).length > 0);
    const [, number] = /"tenant_id" = \$(\d+)/.exec(statement.text)!;
    const parameters = statement.parameters.with(Number(number) - 1, "2");
    assert(findProblems({ ...statement, parameters }, "1", "2").length > 0);
  });

  it("accepts reading a shared table, but not writing it [TE15] [TE20]", () => {
    const read = `select count(*) from "app"."lists" "$row" where true`;
    assertEquals(check({ text: read, parameters: [] }), []);
    const write = `update "app"."lists" "$row" set "status" = $1 where true`;
    assert(check({ text: write, parameters: ["x"] }).length > 0);
  });

  it("catches a second table beside the one that is bound [TE20]", () => {
    const bound = `where "$row"."tenant_id" = $1::text::"pg_catalog"."int4"`;
    for (
      const text of [
        `select 1 from "app"."deals" "$row", "app"."other" "$o" ${bound}`,
        `select 1 from "app"."deals" "$row" join "app"."other" "$o" on true ${bound}`,
        `select 1 from "app"."deals" "$row" ${bound} and exists (select 1 from "app"."other" "$o")`,
        `select 1 from "app"."deals" "$row" ${bound} and exists (select 1 from other)`,
        `select 1 from "app"."deals" "$row" ${bound} union select 1 from "app"."deals" "$row"`,
        `select 1 from "pg_catalog"."pg_authid" "$row"`,
        `select 1 from rowgate.tokens`,
        `delete from "app"."deals" "$row"`,
        `select pg_read_file('x')`,
      ]
    ) {
      assert(check({ text, parameters: ["1"] }).length > 0, `not caught: ${text}`);
    }
  });
});
