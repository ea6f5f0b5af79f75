import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import type { Compile, Database } from "../../../src/database/postgres/database.ts";
import { batchLookUps } from "../../../src/records/batch_look_ups.ts";
import { findKey } from "../../../src/records/plan/keys.ts";
import { planQuery } from "../../../src/records/plan/query_plan.ts";
import { parseQueryRequest } from "../../../src/request/query_request.ts";
import { printStatement } from "../../support/print_statement.ts";
import { makeAccess, makeColumn, makeTable } from "../../support/table.ts";

const NAMES = Array.from({ length: 20 }, (_, place) => `c${place}`);
const TABLE = makeTable(NAMES.map((name) => makeColumn(name, "int4")));
const ALONE = { total: "1", rows: "1", records: "[alone]" };

const FOUND = [{ column1: "0", column2: "{}" }, { column1: "1", column2: "{}" }];

interface FindOptions {
  readonly select?: readonly string[];
  readonly count?: boolean;
  readonly tenant?: string;
  readonly table?: typeof TABLE;
}

type Row = { column1: string; column2: string | null };

/** Look-ups of a database that gives these rows, and how many rows each statement asked for. */
function open(rows: readonly Row[]) {
  const asked: number[] = [];
  const run = (compile: Compile) => {
    asked.push(printStatement(compile).text.match(/"app"\."deals"/g)!.length);
    return Promise.resolve(rows);
  };
  const lookUp = batchLookUps({ run } as unknown as Database, () => {});
  const find = (
    value: number,
    { select = [], count = true, tenant = "1", table = TABLE }: FindOptions = {},
  ) => {
    const body = { filters: { and: [{ field: "id", op: "eq", value }] }, select };
    const access = makeAccess({ tenant });
    const options = { table, access, count, wideNumbersAsText: false };
    const plan = planQuery(parseQueryRequest(body), options);
    return lookUp({ plan, key: findKey(plan)! }, () => Promise.resolve(ALONE));
  };
  return { find, asked };
}

describe("batchLookUps", () => {
  it("gives each look-up the record at its place, counted when that was asked for", async () => {
    const rows = [{ column1: "0", column2: '{"id":2}' }, { column1: "1", column2: null }];
    const { find, asked } = open(rows);
    const responses = await Promise.all([find(1), find(2, { count: false }), find(3)]);
    assertEquals(responses, [
      ALONE,
      { total: null, rows: "1", records: '[{"id":2}]' },
      { total: "0", rows: "0", records: "[]" },
    ]);
    assertEquals(asked, [2]);
  });

  it("reads two, four or eight in a statement, and as many statements as it takes", async () => {
    const { find, asked } = open([]);
    for (const number of [2, 3, 4, 5, 8, 9, 10, 17]) {
      const all = Array.from({ length: number + 1 }, (_, key) => find(key, { select: NAMES }));
      // No row is found at its place, so each runs alone in the end, and the shape is not batched for a while.
      await Promise.all(all);
      NAMES.pop();
    }
    assertEquals(asked, [2, 4, 4, 8, 8, 8, 8, 2, 8, 8]);
  });

  it("reads alone a record that is too large, missing, or not at its place", async () => {
    const row = { column1: "0", column2: '{"id":2}' };
    for (
      const rows of [
        [],
        [{ ...row, column1: "1" }, row],
        [{ ...row, column2: "null" }, { column1: "1", column2: "null" }],
      ]
    ) {
      const { find } = open(rows);
      assertEquals(await Promise.all([find(1), find(2), find(3)]), [ALONE, ALONE, ALONE]);
    }
  });

  it("reads each tenant's in a statement of its own where rows are on several servers [M25]", async () => {
    const table = { ...TABLE, isSpread: true };
    const { find, asked } = open(FOUND);
    const all = [0, 1, 2, 3, 4, 5].map((key) => find(key, { table, tenant: String(key % 2) }));
    await Promise.all(all);
    assertEquals(asked, [4, 2]);
  });

  it("batches the shapes that were used last, and each tenant's share of them [P12] [RE34]", async () => {
    const { find, asked } = open(FOUND);
    const ask = async (select: readonly string[], tenant = "1") => {
      const before = asked.length;
      await Promise.all([1, 2, 3].map((key) => find(key, { select, tenant })));
      return asked.length - before;
    };
    assertEquals(await ask(["c0"], "2"), 1);
    // Others flood the service with shapes, each of which is batched while it is new.
    for (let shape = 0; shape < 100; shape++) {
      const select = NAMES.filter((_, place) => place < 7 && (shape + 1) >> place & 1);
      assertEquals(await ask(select), 1);
    }
    // A look-up alone leaves the next ones to be batched with it only where the shape is known still.
    const known = find(1, { select: ["c0"], tenant: "2" });
    assertEquals(await ask(["c0"], "2"), 1);
    await known;
  });
});
