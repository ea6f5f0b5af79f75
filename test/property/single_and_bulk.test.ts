import { assert, assertEquals } from "@std/assert";
import { afterAll, beforeAll, describe, it } from "@std/testing/bdd";
import fc from "fast-check";
import type { Arbitrary } from "fast-check";
import { arbitraryRows, arbitraryValueOrNull } from "../support/arbitraries.ts";
import { ORACLE_COLUMNS } from "../support/oracle_columns.ts";
import { pickRows } from "../support/oracle.ts";
import type { OracleFilter, OracleRow } from "../support/oracle.ts";
import { dumpOracleRows, loadOracleRows, ORACLE_TENANCIES } from "../support/oracle_table.ts";
import { checkLaw } from "./check_law.ts";
import { openOracle, type Oracle, recordsOf } from "./open_oracle.ts";

/** Values of columns that are only written: some change what is stored by a length or a scale. */
const WRITTEN: Readonly<Record<string, readonly unknown[]>> = {
  short: ["", "a", "abcde", null, 12345, true],
  padded: ["", "a", "a   ", "abcd", null],
  cents: [1, 1.005, "1.00", "1.004", "-0.001", "NaN", null, 99999999.99],
  second: ["2026-01-31T12:34:56.4Z", "2026-01-31T12:34:56.5Z", "infinity", null],
  doc: [{ a: [1, { b: null }] }, [], "x", 1.5, true, null, { "__proto__": 1, constructor: 2 }],
  raw: [{ b: 1, a: 2 }, "x", null],
  tags: [[], ["a,b", 'q"q', null, "", "\\", "NULL", "{}"], null],
  marker: ["m", null],
};

for (const tenancy of ORACLE_TENANCIES) {
  describe(`single and bulk, tenants ${tenancy}`, () => {
    let oracle: Oracle;
    const runs = (number: number) => tenancy === "by column" ? number : number / 5;
    beforeAll(async () => {
      oracle = await openOracle("real", { tenancy });
    });
    afterAll(() => oracle?.close());

    it("agree on what matches and on what is written [S2] [S3] [U20] [U2] [U27] [U28] [U32] [U37] [U38] [U39] [U40] [U41] [U5] [U23] [U31] [U42]", async () => {
      const law = fc.asyncProperty(
        arbitraryRows(20).filter((rows) => rows.length > 0).chain((rows) =>
          fc.record({ rows: fc.constant(rows), filters: arbitraryFilters(rows) })
        ),
        arbitraryFields(),
        async ({ rows, filters }, fields) => {
          const matched = pickRows(rows, { tenant: 1, filter: conditionsOf(filters) }).length;
          const body = { filters: sendFilters(filters), fields };
          await loadOracleRows(oracle.admin, rows);
          const before = await dumpOracleRows(oracle.admin);
          const single = await oracle.send("records/single", body);
          const afterSingle = await dumpOracleRows(oracle.admin);
          await loadOracleRows(oracle.admin, rows);
          const bulk = await oracle.send("records/bulk", body);
          const afterBulk = await dumpOracleRows(oracle.admin);
          const changed = before.filter((row) => !afterBulk.includes(row)).length;

          assertEquals(bulk.status, 200, bulk.text);
          assertEquals(bulk.body.updated, changed);
          assertEquals("matched" in bulk.body, false);
          if (matched === 1) {
            assertEquals(single.status, 200, single.text);
            assertEquals(single.body.matched, 1);
            assertEquals(single.body.updated, bulk.body.updated);
            assertEquals(afterSingle, afterBulk);
            assertEquals(single.body.fields, JSON.parse(JSON.stringify(fields)));
            return;
          }
          assertEquals(single.status, matched === 0 ? 404 : 409, single.text);
          assertEquals(single.body.matched, matched);
          assertEquals(afterSingle, before);
          assert(changed <= matched);
        },
      );
      await checkLaw(law, { runs: runs(200) });
    });

    it("change nothing when the same update runs again [U29] [U42]", async () => {
      const law = fc.asyncProperty(
        arbitraryRows(10).filter((rows) => rows.some(({ tenant }) => tenant === 1)),
        arbitraryFields(),
        async (rows, fields) => {
          await loadOracleRows(oracle.admin, rows);
          const { bucket, id } = rows.find(({ tenant }) => tenant === 1)!;
          const body = { filters: { bucket, id }, fields };
          const first = await oracle.send("records/single", body);
          assertEquals(first.status, 200, first.text);
          for (const operation of ["records/single", "records/bulk"] as const) {
            const again = await oracle.send(operation, body);
            assertEquals([again.status, again.body.updated], [200, 0], again.text);
          }
        },
      );
      await checkLaw(law, { runs: runs(150) });
    });

    it("select the rows that the same eq conditions select in a query [U6]", async () => {
      const law = fc.asyncProperty(
        arbitraryRows(40).filter((rows) => rows.length > 0).chain((rows) =>
          fc.record({ rows: fc.constant(rows), filters: arbitraryFilters(rows) })
        ),
        async ({ rows, filters }) => {
          await loadOracleRows(oracle.admin, rows);
          const sent = Object.entries(sendFilters(filters));
          const and = sent.map(([field, value]) => ({ field, op: "eq", value }));
          const select = ["bucket", "id"];
          const found = recordsOf(
            await oracle.send("query", { filters: { and }, select, per_page: 200 }),
          );
          const bulk = await oracle.send("records/bulk", {
            filters: Object.fromEntries(sent),
            fields: { marker: "met" },
          });
          const marked = recordsOf(
            await oracle.send("query", {
              filters: { and: [{ field: "marker", op: "eq", value: "met" }] },
              select,
              per_page: 200,
            }),
          );
          const keys = (records: Record<string, unknown>[]) =>
            records.map(({ bucket, id }) => `${bucket} ${id}`).sort();
          assertEquals(keys(marked), keys(found));
          assertEquals([bulk.status, bulk.body.updated], [200, found.length], bulk.text);
        },
      );
      await checkLaw(law, { runs: runs(150) });
    });
  });
}

type Filters = readonly {
  readonly field: string;
  readonly json: string | number | boolean | null;
  readonly cell: string | null;
}[];

/** Equalities on up to three columns; mostly such as one row of the table meets. */
function arbitraryFilters(rows: readonly OracleRow[]): Arbitrary<Filters> {
  const met = fc.constantFrom(...rows).chain((row) =>
    fc.subarray([...ORACLE_COLUMNS], { minLength: 1, maxLength: 3 }).map((columns) =>
      columns.map(({ name }) => {
        const cell = row.cells[name] ?? null;
        return { field: name, json: cell, cell };
      })
    )
  );
  const any = fc.subarray([...ORACLE_COLUMNS], { minLength: 1, maxLength: 2 }).chain((columns) =>
    fc.tuple(
      ...columns.map((column) =>
        arbitraryValueOrNull(column).map((value) => ({ field: column.name, ...value }))
      ),
    )
  );
  return fc.oneof({ weight: 3, arbitrary: met }, { weight: 1, arbitrary: any });
}

function sendFilters(filters: Filters): Record<string, unknown> {
  return Object.fromEntries(filters.map(({ field, json }) => [field, json]));
}

function conditionsOf(filters: Filters): OracleFilter {
  const items = filters.map(({ field, cell }) => ({ field, op: "eq", cells: [cell], sent: null }));
  return { combine: "and", items };
}

/** New values for up to four columns, some of which only write. */
function arbitraryFields(): Arbitrary<Record<string, unknown>> {
  const oracle = ORACLE_COLUMNS.map((column) =>
    arbitraryValueOrNull(column).map(({ json }) => [column.name, json] as const)
  );
  const written = Object.entries(WRITTEN).map(([name, values]) =>
    fc.constantFrom(...values).map((value) => [name, value] as const)
  );
  return fc.uniqueArray(fc.oneof(...oracle, ...written), {
    minLength: 1,
    maxLength: 4,
    selector: ([name]) => name,
  }).map((entries) => Object.fromEntries(entries));
}
