import { assertEquals } from "@std/assert";
import { it } from "@std/testing/bdd";
import { assertRejectedAt, recordsOf } from "./assert_response.ts";
import { describeSharedService } from "./describe_service.ts";

/** Columns of types that compare in ways of their own, or only by their parts, with the type's name. */
const PECULIAR = [
  ["c_line", "line", "{1,-1,0}"],
  ["c_lseg", "lseg", "[(0,0),(1,1)]"],
  ["c_box", "box", "(1,1),(0,0)"],
  ["c_path", "path", "[(0,0),(1,1),(2,0)]"],
  ["c_polygon", "polygon", "((0,0),(1,1),(2,0))"],
  ["c_circle", "circle", "<(0,0),1>"],
  ["c_composite", "address", '("High Street",1,Leeds)'],
  ["a_composite", "address[]", '{"(\\"High Street\\",1,Leeds)"}'],
] as const;

const FIRST = { field: "id", op: "eq", value: 1 };

describeSharedService("Query, types that compare in ways of their own", ({ query }) => {
  function ask(field: string, op: string, value?: unknown) {
    const condition = value === undefined ? { field, op } : { field, op, value };
    return query("everything", { filters: { and: [FIRST, condition] }, select: ["id"] });
  }

  for (const [field, type, value] of PECULIAR) {
    it(`responds to each operator on ${field} with rows or an error at the operator [T50]`, async () => {
      for (const op of ["eq", "neq", "gt", "gte", "lt", "lte"]) {
        const response = await ask(field, op, value);
        if (response.status !== 200) assertRejectedAt(response, "filters.and[1].op", type);
      }
      for (const [op, given] of [["in", [value]], ["between", [value, value]]] as const) {
        const response = await ask(field, op, given);
        if (response.status !== 200) assertRejectedAt(response, "filters.and[1].op", type);
      }
      const sorted = await query("everything", { sort: [{ field }] });
      if (sorted.status !== 200) assertRejectedAt(sorted, "sort[0].field", type);
      assertEquals(recordsOf(await ask(field, "is_not_null")), [{ id: 1 }]);
      assertEquals(recordsOf(await ask(field, "like", "%")), [{ id: 1 }]);
    });
  }

  it("compares citext without regard to case, where it exists [V22]", async () => {
    const response = await query("members", {
      filters: { and: [{ field: "email", op: "eq", value: "MEMBER3@example.ORG" }] },
      select: ["id"],
    });
    if (response.status === 404) return;
    assertEquals(recordsOf(response), [{ id: 3 }]);
    const several = await query("members", {
      filters: { and: [{ field: "email", op: "in", value: ["member1@example.org"] }] },
      select: ["id"],
    });
    assertEquals(recordsOf(several), [{ id: 1 }]);
  });

  it("never cuts or rounds a filter's value to the column's length or scale [V2]", async () => {
    const longer: readonly [string, unknown][] = [
      ["c_varchar_3", "abcd"],
      ["c_char_4", "ab  x"],
      ["c_bit_3", "1010"],
      ["c_varbit_5", "101101"],
      ["c_numeric_10_2", "3.141"],
      ["c_timestamp_0", "2026-01-31 12:34:56.4"],
      ["c_timestamptz_3", "2026-01-31T12:34:56.1234Z"],
      ["d_short", "abcd"],
      ["d_cents", "12.341"],
      ["a_varchar_3", "{abcx,d}"],
      ["a_numeric_10_2", "{1.501,2.25}"],
    ];
    for (const [field, value] of longer) {
      for (
        const [op, given] of [["eq", value], ["in", [value]], ["between", [value, value]]] as const
      ) {
        const response = await ask(field, op, given);
        if (response.status !== 200) {
          assertRejectedAt(
            response,
            op === "eq" ? "filters.and[1].value" : "filters.and[1].value[0]",
          );
        } else assertEquals(recordsOf(response), [], `${field} ${op}`);
      }
    }
  });

  it("finds each extreme by the value that it printed [V4] [TV23]", async () => {
    const columns = [
      "c_int2",
      "c_int4",
      "c_int8",
      "c_float4",
      "c_float8",
      "c_numeric",
      "c_numeric_10_2",
      "c_money",
      "c_date",
      "c_time",
      "c_timestamp",
      "c_timestamptz",
      "c_interval",
      "c_oid",
    ];
    const headers = { accept: "application/json;IEEE754Compatible=true" };
    const records = recordsOf(
      await query("everything", { select: ["id", ...columns] }, { headers }),
    );
    for (const record of records.filter(({ id }) => Number(id) >= 3 && Number(id) <= 8)) {
      for (const field of columns) {
        const printed = record[field];
        // A number that a double may have rounded is sent as a string.
        const value = typeof printed === "number" ? String(printed) : printed;
        const filters = {
          and: [{ field, op: "eq", value }, { field: "id", op: "eq", value: record["id"] }],
        };
        const found = await query("everything", { filters, select: ["id"] });
        assertEquals(recordsOf(found), [{ id: record["id"] }], `${field} ${JSON.stringify(value)}`);
      }
    }
  });
});
