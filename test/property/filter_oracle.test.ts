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
import { loadOracleRows, ORACLE_TENANCIES } from "../support/oracle_table.ts";
import { checkLaw } from "./check_law.ts";
import { openOracle, type Oracle, recordsOf } from "./open_oracle.ts";

const SELECT = ["bucket", "id"];

for (const tenancy of ORACLE_TENANCIES) {
  describe(`Postgres and the oracle pick the same rows, tenants ${tenancy}`, () => {
    let oracle: Oracle;
    const runs = (number: number) => tenancy === "by column" ? number : number / 5;
    beforeAll(async () => {
      oracle = await openOracle("real", { tenancy });
    });
    afterAll(() => oracle?.close());

    it("for any tree of conditions, with the same total [Q12] [Q13] [Q14] [Q85] [Q15] [Q16]", async () => {
      const law = fc.asyncProperty(
        arbitraryRows(60),
        fc.array(arbitraryGroup(), { minLength: 1, maxLength: 8 }),
        fc.constantFrom(1, 2),
        async (rows, filters, tenant) => {
          await loadOracleRows(oracle.admin, rows);
          for (const filter of filters) {
            const body = { filters: sendFilter(filter), select: SELECT, per_page: 200 };
            const response = await oracle.send("query", body, { tenant });
            const expected = pickRows(rows, { tenant, filter });
            assertEquals(keysOf(recordsOf(response)).sort(), keysOf(expected).sort());
            assertEquals(response.body.total, expected.length);
          }
        },
      );
      await checkLaw(law, { runs: runs(150) });
    });

    it("for one condition, whatever column, operator and value [Q21] [Q22] [Q23] [Q24] [Q25] [Q26] [Q27] [Q28] [Q29] [Q30] [Q31] [Q32] [Q33] [Q42] [Q43] [Q44] [Q45] [Q47] [V5] [V12] [Q49] [Q50] [Q51] [Q52]", async () => {
      const law = fc.asyncProperty(
        arbitraryRows(60),
        fc.array(arbitraryCondition(), { minLength: 30, maxLength: 30 }),
        async (rows, conditions) => {
          await loadOracleRows(oracle.admin, rows);
          for (const filter of conditions) {
            const body = { filters: { and: [filter.sent] }, select: SELECT, per_page: 200 };
            const response = await oracle.send("query", body);
            const expected = pickRows(rows, { tenant: 1, filter });
            assertEquals(keysOf(recordsOf(response)).sort(), keysOf(expected).sort());
          }
        },
      );
      await checkLaw(law, { runs: runs(40) });
    });

    it("in the same order, the key last and nulls as Postgres sorts them [Q62] [Q60] [Q70] [Q74] [Q66] [Q67] [Q73]", async () => {
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
          const response = await oracle.send("query", {
            ...filters,
            select: SELECT,
            sort,
            page,
            per_page,
          });
          const expected = sortRows(pickRows(rows, { tenant: 1, filter }), sort);
          const shown = expected.slice((page - 1) * per_page, page * per_page);
          assertEquals(keysOf(recordsOf(response)), keysOf(shown));
          assertEquals(response.body.total, expected.length);
        },
      );
      await checkLaw(law, { runs: runs(150) });
    });
  });
}

function keysOf(rows: readonly (OracleRow | Record<string, unknown>)[]): string[] {
  return rows.map(({ bucket, id }) => `${bucket} ${id}`);
}
