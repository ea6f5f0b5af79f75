import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { planUpdate } from "../../../src/records/plan/update_plan.ts";
import type { Database } from "../../../src/database/postgres/database.ts";
import { openRecords } from "../../../src/records/records.ts";
import { parseUpdateRequest } from "../../../src/request/update_request.ts";
import { makeAccess, makeColumn, makeTable } from "../../support/table.ts";

describe("updateMany", () => {
  for (const updated of ["0", "2147483648", "4294967297", "9007199254740993"]) {
    it(`reports that ${updated} rows were updated, digit for digit [UB16]`, async () => {
      const run = () => Promise.resolve([{ updated, exceeding: null }]);
      const database = { run } as unknown as Database;
      const records = openRecords(database, { observe() {}, tenantSetting: undefined, exports: 2 });
      const request = parseUpdateRequest({ filters: { n: 1 }, fields: { n: 2 } });
      const plan = planUpdate(request, {
        table: makeTable([makeColumn("n", "int4")]),
        access: makeAccess({ scopes: ["update"] }),
        maxAffected: undefined,
        rollback: false,
      });
      const client = new AbortController();
      const { document } = request;
      assertEquals(await records.updateMany(plan, { client, document }), updated);
    });
  }
});
