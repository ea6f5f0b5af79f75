import { assertEquals } from "@std/assert";
import { afterAll, beforeAll, describe, it } from "@std/testing/bdd";
import fc from "fast-check";
import {
  arbitraryCondition,
  arbitraryGroup,
  arbitraryRows,
  arbitrarySort,
  sendFilter,
} from "../support/arbitraries.ts";
import { pickRows, sortRows } from "../support/oracle.ts";
import type { OracleRow } from "../support/oracle.ts";
import { loadOracleRows } from "../support/oracle_table.ts";
import { checkLaw } from "./check_law.ts";
import { openOracle, type Oracle, recordsOf } from "./open_oracle.ts";

const SELECT = ["bucket", "id"];

describe("Postgres and the oracle pick the same rows", () => {
  let oracle: Oracle;
  beforeAll(async () => {
    oracle = await openOracle("real");
  });
  afterAll(() => oracle?.close());

  it("for any tree of conditions, with the same total [spec 2 group-and] [spec 2 group-or] [spec 2 group-nested] [spec 4.1 total] [D3.empty-and] [D3.empty-or]", async () => {
    const law = fc.asyncProperty(
      arbitraryRows(60),
      fc.array(arbitraryGroup(), { minLength: 1, maxLength: 8 }),
      fc.constantFrom(1, 2),
      async (rows, filters, tenant) => {
        await loadOracleRows(oracle.admin, rows);
        for (const filter of filters) {
          const body = { filters: sendFilter(filter), select: SELECT, per_page: 200 };
          const answer = await oracle.send("query", body, { tenant });
          const expected = pickRows(rows, { tenant, filter });
          assertEquals(keysOf(recordsOf(answer)).sort(), keysOf(expected).sort());
          assertEquals(answer.body.total, expected.length);
        }
      },
    );
    await checkLaw(law, { runs: 150 });
  });

  it("for one condition, whatever column, operator and value [spec 2 op-eq] [spec 2 op-neq] [spec 2 op-gt] [spec 2 op-gte] [spec 2 op-lt] [spec 2 op-lte] [spec 2 op-like] [spec 2 op-not_like] [spec 2 op-in] [spec 2 op-not_in] [spec 2 op-between] [spec 2 op-is_null] [spec 2 op-is_not_null] [D3.eq-null] [D3.neq-null] [D3.in-null] [D3.not_in-null] [D3.null-not-returned] [D3.text-json] [D3.timestamptz-utc] [D3.like-types] [D3.like-case] [D3.like-underscore] [D3.like-escape]", async () => {
    const law = fc.asyncProperty(
      arbitraryRows(60),
      fc.array(arbitraryCondition(), { minLength: 30, maxLength: 30 }),
      async (rows, conditions) => {
        await loadOracleRows(oracle.admin, rows);
        for (const filter of conditions) {
          const body = { filters: { and: [filter.sent] }, select: SELECT, per_page: 200 };
          const answer = await oracle.send("query", body);
          const expected = pickRows(rows, { tenant: 1, filter });
          assertEquals(keysOf(recordsOf(answer)).sort(), keysOf(expected).sort());
        }
      },
    );
    await checkLaw(law, { runs: 40 });
  });

  it("in the same order, the key last and nulls as Postgres sorts them [spec 2 sort-direction] [spec 4.1 sort] [spec 4.1 page] [spec 4.1 per_page] [D3.sort-key] [D3.sort-nulls] [D3.page-past-end]", async () => {
    const law = fc.asyncProperty(
      arbitraryRows(60),
      fc.option(arbitraryGroup(), { nil: undefined }),
      arbitrarySort().filter((sort) => sort.length > 0),
      fc.record({
        page: fc.integer({ min: 1, max: 4 }),
        per_page: fc.integer({ min: 1, max: 40 }),
      }),
      async (rows, filter, sort, { page, per_page }) => {
        await loadOracleRows(oracle.admin, rows);
        const filters = filter === undefined ? {} : { filters: sendFilter(filter) };
        const answer = await oracle.send("query", {
          ...filters,
          select: SELECT,
          sort,
          page,
          per_page,
        });
        const expected = sortRows(pickRows(rows, { tenant: 1, filter }), sort);
        const shown = expected.slice((page - 1) * per_page, page * per_page);
        assertEquals(keysOf(recordsOf(answer)), keysOf(shown));
        assertEquals(answer.body.total, expected.length);
      },
    );
    await checkLaw(law, { runs: 150 });
  });
});

function keysOf(rows: readonly (OracleRow | Record<string, unknown>)[]): string[] {
  return rows.map(({ bucket, id }) => `${bucket} ${id}`);
}
