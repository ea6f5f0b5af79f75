import { assertEquals } from "@std/assert";
import { after, before, describe, it } from "@std/testing/bdd";
import type { Sql } from "../../src/database/postgres/driver.ts";
import { planQuery } from "../../src/records/plan/query_plan.ts";
import { planUpdate } from "../../src/records/plan/update_plan.ts";
import { parseQueryRequest } from "../../src/request/query_request.ts";
import { parseUpdateRequest } from "../../src/request/update_request.ts";
import { compileLock, compileUpdateSingle } from "../../src/records/sql/update_single.ts";
import { compileLookUps } from "../../src/records/sql/look_ups.ts";
import { compileQuery } from "../../src/records/sql/query.ts";
import { compileUpdateBulk } from "../../src/records/sql/update_bulk.ts";
import { compileUpdateByKey } from "../../src/records/sql/update_by_key.ts";
import { createTestDatabase, type TestDatabase } from "../support/database.ts";
import { makeAccess, makeColumn, makeTable } from "../support/table.ts";
import { explain } from "./explained.ts";

const ACCESS = makeAccess({ tenant: "7" });
const TABLE = makeTable([
  makeColumn("status", "text"),
  makeColumn("amount", "numeric"),
  makeColumn("name", "text"),
  makeColumn("at", "other", { type: "timestamptz" }),
]);

type Compile = (sql: Sql) => unknown;

function query(body: object, { count = true }: { count?: boolean } = {}): Compile {
  const options = { table: TABLE, access: ACCESS, count, wideNumbersAsText: false };
  const plan = planQuery(parseQueryRequest(body), options);
  return (sql) => compileQuery(sql, plan);
}

function lookUps(number: number): Compile {
  const options = { table: TABLE, access: ACCESS, count: true, wideNumbersAsText: false };
  const plans = Array.from(
    { length: number },
    (_, value) => planQuery(parseQueryRequest({ filters: keyed(value) }), options),
  );
  return (sql) => compileLookUps(sql, plans);
}

function filter(...items: readonly object[]): Compile {
  return query({ filters: { and: items } });
}

function update(
  compile:
    | typeof compileUpdateSingle
    | typeof compileUpdateByKey
    | typeof compileUpdateBulk
    | typeof compileLock,
) {
  return (filters: object): Compile => {
    const request = parseUpdateRequest({ filters, fields: { amount: 1 } });
    const options = { table: TABLE, access: ACCESS, maxAffected: undefined, rollback: false };
    const plan = planUpdate(request, options);
    return (sql) => compile(sql, plan);
  };
}

const KEY = ["deals_pkey"];
const TIME = ["deals_at"];
const NAME = ["deals_name"];
const LATEST = [{ field: "at", direction: "desc" }];
const RANGE = { field: "at", op: "between", value: ["2024-01-01", "2024-01-02"] };

/** Statements, and the indexes that they use. */
const ASKED: readonly (readonly [string, Compile, readonly string[]])[] = [
  ["a row by its key", filter({ field: "id", op: "eq", value: 7 }), KEY],
  ["a row by its key, not counted", query({ filters: keyed(7) }, { count: false }), KEY],
  ["rows by their keys, batched", lookUps(8), KEY],
  ["rows by keys", filter({ field: "id", op: "in", value: [1, 2, 3] }), KEY],
  ["a text that is equal", filter({ field: "name", op: "eq", value: "n7" }), NAME],
  ["one of several texts", filter({ field: "name", op: "in", value: ["n7", "n8"] }), NAME],
  ["a range of time", filter(RANGE), TIME],
  ["from a time on", filter({ field: "at", op: "gte", value: "2024-12-01" }), TIME],
  ["a range, and conditions without index", nested(), TIME],
  ["a page in an order without index", page({ field: "amount" }, RANGE), TIME],
  ["a page in order of time", query({ sort: LATEST }, { count: false }), TIME],
  ["a page behind a key", behind({}, ["70"]), KEY],
  ["a page behind a time", behind({ sort: [{ field: "at" }] }, ["2024-06-01", "7"]), TIME],
  ["a page behind a time, backwards", behind({ sort: LATEST }, ["2024-06-01", "7"]), TIME],
  ["a page behind NULL", behind({ sort: LATEST }, [null, "7"]), TIME],
  ["a single update by key", update(compileUpdateByKey)({ id: 7 }), KEY],
  ["a single update by key that counts", update(compileUpdateSingle)({ id: 7 }), KEY],
  ["a single update by a text", update(compileUpdateSingle)({ name: "n7" }), NAME],
  ["a bulk update by a text", update(compileUpdateBulk)({ name: "n7" }), NAME],
  ["the lock of a single update in a transaction", update(compileLock)({ id: 7 }), KEY],
];

/** A page that starts behind a row with these values. */
function behind(body: object, after: readonly (string | null)[]): Compile {
  const orderedByIndex = new Set([...TABLE.orderedByIndex, TABLE.columns.get("at")!.identifier]);
  const options = { access: ACCESS, count: false, wideNumbersAsText: false, pageToken: true };
  const table = { ...TABLE, orderedByIndex };
  const plan = planQuery(parseQueryRequest(body), { ...options, table });
  const continued = { ...plan.continued!, after };
  return (sql) => compileQuery(sql, { ...plan, continued });
}

function keyed(value: number): object {
  return { and: [{ field: "id", op: "eq", value }] };
}

function deep(page: number): Compile {
  return query({ sort: [{ field: "id" }], page, per_page: 50 }, { count: false });
}

function page(key: object, ...items: readonly object[]): Compile {
  return query({ filters: { and: items }, sort: [key] });
}

function nested(): Compile {
  const either = { or: [{ field: "status", op: "eq", value: "s1" }, keyed(3)] };
  return filter(RANGE, either);
}

describe("The plans of Postgres", () => {
  let database: TestDatabase;

  before(async () => {
    database = await createTestDatabase("real", "empty");
    await database.admin.unsafe(`create schema app;
      create table app.deals (tenant_id int4 not null, id int8 not null, status text, amount numeric,
        name text, at timestamptz, primary key (tenant_id, id));
      insert into app.deals select 1 + n % 20, n, 's' || n % 5, n, 'n' || n,
        timestamptz '2024-01-01 00:00:00+00' + n * interval '10 minutes' from generate_series(1, 40000) n;
      create index deals_at on app.deals (tenant_id, at);
      create index deals_name on app.deals (tenant_id, name);
      create table app.bare as select * from app.deals;
      analyze app.bare`);
    // Index-only scans need the visibility map, which a vacuum fills.
    await database.admin.unsafe("vacuum analyze app.deals");
  });
  after(() => database.drop());

  for (const mode of ["generic", "custom"] as const) {
    for (const [title, compile, indexes] of ASKED) {
      it(`read an index and never a whole table, ${mode}: ${title}`, async () => {
        const found = await explain(database.admin, compile, mode);
        assertEquals([found.indexes, found.scanned], [indexes, []]);
      });
    }
  }

  it("skip the rows before a deep page in the index of the key", async () => {
    for (const [page, alone] of [[1, []], [30, KEY]] as const) {
      const found = await explain(database.admin, deep(page), "generic");
      assertEquals(found, { indexes: KEY, alone, scanned: [] });
    }
  });

  it("read the whole table if there is no index, so that the other tests can fail", async () => {
    const found = await explain(
      database.admin,
      (sql) => sql`select 1 from app.bare where name = ${"n7"}::text`,
      "generic",
    );
    assertEquals(found, { indexes: [], alone: [], scanned: ["bare"] });
  });
});
