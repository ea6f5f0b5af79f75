/**
 * What the work on one request costs without network and database: `deno task bench:micro`. Targets:
 * one condition under 15 µs, fifty at depth 5 under 150 µs, from the text of the body to the statement.
 */
import type { Sql } from "../../../src/database/postgres/driver.ts";
import { Statements } from "../../../src/database/postgres/statements.ts";
import { planQuery } from "../../../src/records/plan/query_plan.ts";
import { parseJson } from "../../../src/basics/json/parse_json.ts";
import { parseQueryRequest } from "../../../src/request/query_request.ts";
import { compileQuery } from "../../../src/records/sql/query.ts";
import { makeColumn, makeTable } from "../../../test/support/table.ts";

const TABLE = makeTable([
  makeColumn("status", "text"),
  makeColumn("amount", "numeric"),
  makeColumn("name", "text"),
]);

const ACCESS = {
  tokenId: "bench",
  name: null,
  tenant: "1",
  scopes: ["query"] as const,
  tables: null,
  expiresAt: null,
};

const ONE = JSON.stringify({ filters: { and: [{ field: "id", op: "eq", value: 7 }] } });
const FIFTY = JSON.stringify({ filters: nest(5) });
const LIST = JSON.stringify({
  filters: {
    and: [{
      field: "name",
      op: "in",
      value: Array.from({ length: 200 }, (_, at) => `value ${at}`),
    }],
  },
});

/** Ten conditions at each of five depths. */
function nest(depth: number): object {
  const items: object[] = Array.from({ length: 10 }, (_, index) => {
    const field = ["status", "amount", "name"][index % 3];
    return { field, op: "eq", value: field === "amount" ? index : `value ${index}` };
  });
  if (depth > 1) items.push(nest(depth - 1));
  return depth % 2 === 0 ? { or: items } : { and: items };
}

function plan(text: string) {
  const { value, issues } = parseJson(text);
  const request = parseQueryRequest(value, issues);
  return planQuery(request, {
    table: TABLE,
    access: ACCESS,
    count: true,
    wideNumbersAsText: false,
  });
}

const CACHE = new Statements();
/** Takes the place of the driver, which is not measured. */
const TAG = (() => ({})) as unknown as Sql;

function compile(planned: ReturnType<typeof plan>): void {
  CACHE.compile(TAG, (sql) => compileQuery(sql, planned));
}

function prepare(text: string): void {
  compile(plan(text));
}

const BODIES = [
  ["one condition", ONE],
  ["fifty conditions", FIFTY],
  ["a list of two hundred", LIST],
] as const;

for (const [name, text] of BODIES) {
  const group = { group: name };
  const document = parseJson(text);
  const request = parseQueryRequest(document.value, document.issues);
  const planned = plan(text);
  const options = { table: TABLE, access: ACCESS, count: true, wideNumbersAsText: false };
  Deno.bench(`${name}: body to statement`, { ...group, baseline: true }, () => prepare(text));
  Deno.bench(`${name}: JSON`, group, () => void parseJson(text));
  Deno.bench(`${name}: JSON by V8, for comparison`, group, () => void JSON.parse(text));
  Deno.bench(`${name}: shape`, group, () => void parseQueryRequest(document.value, []));
  Deno.bench(`${name}: plan`, group, () => void planQuery(request, options));
  Deno.bench(`${name}: compile`, group, () => compile(planned));
}
