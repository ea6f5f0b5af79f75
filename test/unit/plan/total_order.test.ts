import { assert, assertEquals, assertMatch } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import type { SqlText, Table } from "../../../src/catalogue/catalogue.ts";
import { planTotalOrder } from "../../../src/records/plan/total_order.ts";
import { makeColumn, makeTable } from "../../support/table.ts";

const STATUS = makeColumn("status", "text");
const CODE = makeColumn("code", "text", { nullable: false });
const TENANT = makeColumn("tenant_id", "int4", { nullable: false });
const TABLE = makeTable([STATUS, CODE, TENANT]);
const KEYLESS = { primaryKey: [], keyOrder: [], uniqueColumns: [] };

function plan(names: readonly string[], more: Partial<Table> = {}): string[] | string {
  const table = { ...TABLE, ...more };
  const sort = names.map((name) => ({ column: table.columns.get(name)!, descending: true }));
  const planned = planTotalOrder(sort, table);
  if ("message" in planned) return planned.message;
  return planned.map(({ column, descending }) => `${column.name} ${descending ? "desc" : "asc"}`);
}

describe("a total order", () => {
  it("ends with the key, ascending, unless the sort has it [Q94]", () => {
    assertEquals(plan([]), ["id asc"]);
    assertEquals(plan(["status"]), ["status desc", "id asc"]);
    assertEquals(plan(["id", "status"]), ["id desc", "status desc"]);
  });

  it("leaves out the tenant, which is the same in all rows [Q94]", () => {
    const keyOrder = [TENANT, ...TABLE.keyOrder];
    assertEquals(plan(["tenant_id", "status"], { keyOrder }), ["status desc", "id asc"]);
    const uniqueColumns: SqlText[][] = [[]];
    assertEquals(plan([], { keyOrder: [TENANT], uniqueColumns }), ["tenant_id asc"]);
  });

  it("has at most 32 columns [L22]", () => {
    const names = Array.from({ length: 32 }, (_, at) => `c${at}`);
    const { columns } = makeTable(names.map((name) => makeColumn(name, "text")));
    assertEquals(plan(names.slice(1), { columns }).length, 32);
    assertMatch(String(plan(names, { columns })), /^The sort has 33 columns .* at most 32 for a/);
  });

  it("needs a unique column where there is no key, and names one [Q95]", () => {
    const uniqueColumns = [["hidden" as SqlText], [CODE.identifier]];
    assertEquals(plan(["status", "code"], { ...KEYLESS, uniqueColumns }), [
      "status desc",
      "code desc",
    ]);
    const message = plan(["status"], { ...KEYLESS, uniqueColumns });
    assert(typeof message === "string");
    assertMatch(message, /has no primary key, expected a sort by a unique column: "code"$/);
    assertMatch(
      String(plan(["status"], KEYLESS)),
      /^Table "deals" has neither a primary key nor .*primary_key in the policy$/,
    );
  });

  it("needs all columns of a key, readable and with an order [Q95]", () => {
    const uniqueColumns = [["hidden" as SqlText, TABLE.keyOrder[0]!.identifier]];
    assertMatch(String(plan([], { uniqueColumns })), /neither/);
    const keyOrder = [{ ...TABLE.keyOrder[0]!, order: false }];
    assertMatch(String(plan([], { keyOrder })), /unique column: "id"$/);
  });
});
