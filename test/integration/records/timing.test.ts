import { assertEquals, assertNotEquals } from "@std/assert";
import { after, before, describe, it } from "@std/testing/bdd";
import { planQuery } from "../../../src/records/plan/query_plan.ts";
import { planUpdate } from "../../../src/records/plan/update_plan.ts";
import { parseQueryRequest } from "../../../src/request/query_request.ts";
import { parseUpdateRequest } from "../../../src/request/update_request.ts";
import { compileQuery } from "../../../src/records/sql/query.ts";
import { compileUpdateBulk } from "../../../src/records/sql/update_bulk.ts";
import { compileUpdateByKey } from "../../../src/records/sql/update_by_key.ts";
import { compileUpdateSingle } from "../../../src/records/sql/update_single.ts";
import { createTestDatabase, type TestDatabase } from "../../support/database.ts";
import { type PrintedStatement, printStatement } from "../../support/print_statement.ts";
import { makeAccess, makeColumn, makeTable } from "../../support/table.ts";

const ACCESS = makeAccess();
const TABLE = makeTable([makeColumn("title", "text")], { identifier: "public.timed" as never });
/** Of 20,000 rows, tenant 2 has every second one. */
const OTHER = "10000";
const MISSING = "30000";

/** How much work a plan was, as Postgres counts it. */
interface Node {
  readonly "Node Type": string;
  readonly "Index Name"?: string;
  readonly "Rows Removed by Filter"?: number;
  readonly "Actual Rows": number;
  readonly "Shared Hit Blocks": number;
  readonly "Shared Read Blocks": number;
  readonly Plans?: readonly Node[];
}

/** Node, index, rows, rows thrown away and buffers, down the tree. */
function work(node: Node): unknown {
  return [
    node["Node Type"],
    node["Index Name"],
    node["Actual Rows"],
    node["Rows Removed by Filter"],
    // Where they came from depends on what else uses the cache.
    node["Shared Hit Blocks"] + node["Shared Read Blocks"],
    (node.Plans ?? []).map(work),
  ];
}

const STATEMENTS: Readonly<Record<string, (key: string) => PrintedStatement>> = {
  "a query": (key) => {
    const request = parseQueryRequest({
      filters: { and: [{ field: "id", op: "eq", value: key }] },
    });
    const options = { table: TABLE, access: ACCESS, count: true, wideNumbersAsText: false };
    return printStatement((sql) => compileQuery(sql, planQuery(request, options)));
  },
  "a single update": (key) => printStatement((sql) => compileUpdateSingle(sql, update(key))),
  "a single update by key": (key) => printStatement((sql) => compileUpdateByKey(sql, update(key))),
  "a bulk update": (key) => printStatement((sql) => compileUpdateBulk(sql, update(key))),
};

function update(key: string) {
  const request = parseUpdateRequest({ filters: { id: key }, fields: { title: "x" } });
  const options = { table: TABLE, access: ACCESS, maxAffected: undefined, rollback: false };
  return planUpdate(request, options);
}

describe("the work for another tenant's key and for one that does not exist", () => {
  let test: TestDatabase;

  before(async () => {
    test = await createTestDatabase("real", "empty");
    await test.admin.unsafe(`
      create table timed (id int8 not null, tenant_id int4 not null, title text);
      -- Never tenant 1's: what an update leaves behind is found in the index while a transaction may see it.
      insert into timed select n, case n when ${OTHER} then 2 else 1 + n % 2 end, 'title ' || n
        from generate_series(1, 20000) n`);
  });
  after(() => test.drop());

  async function explain({ text, parameters }: PrintedStatement): Promise<unknown> {
    const options = "analyze, buffers, timing off, summary off, format json";
    const explained = () =>
      test.admin.begin(async (sql) => {
        const rows = await sql.unsafe(`explain (${options}) ${text}`, parameters as string[]);
        return JSON.parse(JSON.stringify(rows[0]!["QUERY PLAN"]))[0].Plan as Node;
      });
    await explained();
    return work(await explained());
  }

  for (const [name, print] of Object.entries(STATEMENTS)) {
    it(`is ${name} of the same text, whatever the key [TE21]`, () => {
      assertEquals(print(OTHER).text, print(MISSING).text);
      assertNotEquals(print(OTHER).parameters, print(MISSING).parameters);
    });

    it(`is the same plan, rows and buffers in ${name}, by an index that leads with the tenant [TE21]`, async () => {
      await test.admin.unsafe(`
        drop index if exists timed_key; create unique index timed_key on timed (tenant_id, id); analyze timed`);
      assertEquals(await explain(print(OTHER)), await explain(print(MISSING)));
    });

    it(`is the same plan, rows and buffers in ${name} without an index [TE21]`, async () => {
      await test.admin.unsafe("drop index if exists timed_key; analyze timed");
      assertEquals(await explain(print(OTHER)), await explain(print(MISSING)));
    });
  }
});
