import { assertEquals } from "@std/assert";
import { afterAll, beforeAll, describe, it } from "@std/testing/bdd";
import fc from "fast-check";
import {
  arbitraryGroup,
  arbitraryRows,
  arbitrarySort,
  sendFilter,
} from "../support/arbitraries.ts";
import { DATABASE_KINDS } from "../support/database.ts";
import { pickRows } from "../support/oracle.ts";
import { loadOracleRows, ORACLE_TENANCIES } from "../support/oracle_table.ts";
import { createTestService } from "../support/service.ts";
import type { TestService } from "../support/service.ts";
import { checkLaw } from "./check_law.ts";
import { openOracle, recordsOf } from "./open_oracle.ts";

/** Tables of the fixture, their sortable columns, and their keys. */
const TABLES = [
  { name: "deals", rows: 60, key: ["fid"], columns: ["status", "amount", "stage", "modified_at"] },
  {
    name: "measurements",
    rows: 260,
    key: ["id", "taken_at"],
    columns: ["sensor", "reading", "taken_at", "id"],
  },
  {
    name: "order_lines",
    rows: 40,
    key: ["order_no", "line_no"],
    columns: ["tenant_id", "quantity", "price", "line_no"],
  },
] as const;

for (const kind of DATABASE_KINDS) {
  describe(`paging in a total order visits each row once, ${kind}`, () => {
    let service: TestService;
    beforeAll(async () => {
      service = await createTestService(kind);
    });
    afterAll(async () => {
      await service?.close();
    });

    for (const tenancy of ORACLE_TENANCIES) {
      it(`with any filter and sort, and a constant total, tenants ${tenancy} [Q79] [Q69] [Q66] [T59]`, async () => {
        const oracle = await openOracle(kind, { tenancy });
        const law = fc.asyncProperty(
          arbitraryRows(50),
          fc.option(arbitraryGroup(), { nil: undefined }),
          arbitrarySort().filter((sort) => sort.length > 0),
          fc.integer({ min: 3, max: 60 }),
          async (rows, filter, sort, per_page) => {
            await loadOracleRows(oracle.admin, rows);
            const filters = filter === undefined ? {} : { filters: sendFilter(filter) };
            const expected = pickRows(rows, { tenant: 1, filter }).map(({ bucket, id }) =>
              `${bucket} ${id}`
            );
            const seen: string[] = [];
            for (let page = 1;; page++) {
              const body = { ...filters, select: ["bucket", "id"], sort, page, per_page };
              const response = await oracle.send("query", body);
              const records = recordsOf(response);
              assertEquals(response.body.total, expected.length);
              seen.push(...records.map(({ bucket, id }) => `${bucket} ${id}`));
              if (records.length < per_page) break;
            }
            assertEquals(seen.sort(), expected.sort());
          },
        );
        const runs = (kind === "real" ? 60 : 25) / (tenancy === "by column" ? 1 : 5);
        await checkLaw(law, { runs }).finally(oracle.close);
      });
    }

    it("on partitions, ties and composite keys [Q79] [Q69] [Q66]", async () => {
      const law = fc.asyncProperty(
        fc.constantFrom(...TABLES).chain((table) =>
          fc.record({
            table: fc.constant(table),
            fields: fc.uniqueArray(fc.constantFrom<string>(...table.columns), {
              minLength: 1,
              maxLength: 2,
            }),
            direction: fc.constantFrom("asc", "desc"),
            per_page: fc.integer({ min: 17, max: 300 }),
          })
        ),
        async ({ table, fields, direction, per_page }) => {
          const seen: string[] = [];
          const sort = fields.map((field) => ({ field, direction }));
          for (let page = 1, rows = 1; rows > 0; page++) {
            const body = { select: table.key, sort, page, per_page };
            const response = await service.send(
              "POST",
              `/integration/tables/${table.name}/query`,
              { body },
            );
            const records = recordsOf(response);
            assertEquals(response.body.total, table.rows);
            rows = records.length;
            seen.push(...records.map((record) => JSON.stringify(record)));
          }
          assertEquals(seen.length, table.rows);
          assertEquals(new Set(seen).size, table.rows);
        },
      );
      await checkLaw(law, { runs: kind === "real" ? 40 : 20 });
    });
  });
}
