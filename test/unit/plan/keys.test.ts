import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import type { Table } from "../../../src/catalogue/catalogue.ts";
import { findKey } from "../../../src/records/plan/keys.ts";
import { planQuery } from "../../../src/records/plan/query_plan.ts";
import { planUpdate } from "../../../src/records/plan/update_plan.ts";
import { parseQueryRequest } from "../../../src/request/query_request.ts";
import { parseUpdateRequest } from "../../../src/request/update_request.ts";
import { makeAccess, makeColumn, makeTable } from "../../support/table.ts";

const ACCESS = makeAccess();
const DAY = makeColumn("day", "other", { type: "date", primaryKey: true });
const CODE = makeColumn("code", "text", { primaryKey: true });
const PADDED = makeColumn("padded", "text", { primaryKey: true, padded: true });
const TENANT = makeColumn("tenant_id", "int4", { primaryKey: true });
const NAME = makeColumn("name", "text");
const TABLE = makeTable([makeColumn("status", "text"), TENANT, DAY, CODE, PADDED, NAME]);
const [ID] = TABLE.primaryKey;
const ID_IS_7 = { field: "id", op: "eq", value: 7 };
const CODE_IS_A = { field: "code", op: "eq", value: "a" };

function find(body: object, more: Partial<Table> = {}): string[] | undefined {
  const options = { access: ACCESS, count: true, wideNumbersAsText: false };
  const table = { ...TABLE, ...more };
  const plan = planQuery(parseQueryRequest(body), { ...options, table });
  return findKey(plan)?.map(({ name }) => name);
}

function filter(...and: readonly object[]): object {
  return { filters: { and } };
}

describe("findKey", () => {
  it("finds a key of one column, whatever is selected, sorted and counted", () => {
    assertEquals(find(filter(ID_IS_7)), ["id"]);
    const more = { select: ["status"], sort: [{ field: "status" }], per_page: 1 };
    assertEquals(find({ ...filter(ID_IS_7), ...more }), ["id"]);
  });

  it("finds a key of the tenant and several columns, in the order of the conditions", () => {
    const primaryKey = [TENANT, ID!, CODE];
    assertEquals(find(filter(CODE_IS_A, ID_IS_7), { primaryKey }), ["code", "id"]);
    assertEquals(find(filter(CODE_IS_A), { primaryKey }), undefined);
    const tenant = { field: "tenant_id", op: "eq", value: 1 };
    assertEquals(find(filter(tenant, ID_IS_7), { primaryKey }), undefined);
  });

  it("finds no key in other queries", () => {
    const others = [
      {},
      filter(),
      { filters: { or: [ID_IS_7] } },
      filter({ and: [ID_IS_7] }),
      filter(ID_IS_7, ID_IS_7),
      filter(ID_IS_7, { field: "status", op: "eq", value: "new" }),
      filter({ field: "status", op: "eq", value: "new" }),
      filter({ field: "id", op: "gte", value: 7 }),
      filter({ field: "id", op: "in", value: [7] }),
      filter({ field: "id", op: "eq", value: null }),
      { ...filter(ID_IS_7), page: 2 },
    ];
    assertEquals(others.map((body) => find(body)), others.map(() => undefined));
  });

  it("finds no key in values that Postgres may reject, and in texts with padding", () => {
    const day = { field: "day", op: "eq", value: "2026-02-30" };
    assertEquals(find(filter(day), { primaryKey: [DAY] }), undefined);
    const padded = { field: "padded", op: "eq", value: "a" };
    assertEquals(find(filter(padded), { primaryKey: [PADDED] }), undefined);
  });

  it("finds no key of tables that are shared, have no key, or may repeat it", () => {
    assertEquals(find(filter(ID_IS_7), { tenant: undefined, tenancy: undefined }), undefined);
    assertEquals(find(filter(ID_IS_7), { primaryKey: [], keyUnique: false }), undefined);
    assertEquals(find(filter(ID_IS_7), { keyUnique: false }), undefined);
  });
});

describe("namesKey", () => {
  function names(filters: object, more: Partial<Table> = {}): boolean {
    const table = { ...TABLE, ...more };
    const options = { access: ACCESS, maxAffected: undefined, rollback: false };
    const request = parseUpdateRequest({ filters, fields: { name: "new" } });
    return planUpdate(request, { ...options, table }).byKey;
  }

  it("is true when all columns of the key except the tenant are compared, whatever else is", () => {
    assertEquals(names({ id: 7 }), true);
    assertEquals(names({ status: "new", id: 7, name: null }), true);
    const primaryKey = [TENANT, ID!, CODE];
    assertEquals(names({ code: "a", id: 7 }, { primaryKey }), true);
    assertEquals(names({ status: "new" }, { primaryKey: [TENANT] }), true);
  });

  it("is true for values that Postgres may reject, since it does so without a row as well", () => {
    assertEquals(names({ day: "2026-02-30" }, { primaryKey: [DAY] }), true);
  });

  it("is false for a part of the key, null, padding, and keys that may repeat", () => {
    assertEquals(names({ status: "new" }), false);
    assertEquals(names({ id: 7 }, { primaryKey: [ID!, CODE] }), false);
    assertEquals(names({ code: null }, { primaryKey: [CODE] }), false);
    assertEquals(names({ padded: "a" }, { primaryKey: [PADDED] }), false);
    assertEquals(names({ id: 7 }, { keyUnique: false }), false);
    assertEquals(names({ id: 7 }, { primaryKey: [], keyUnique: false }), false);
  });
});
