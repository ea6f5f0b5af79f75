import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import type { Field } from "../../../src/console/api.ts";
import { addShownValues, isMoved } from "../../../src/console/edit/shown_values.ts";
import { parseExact, writeExact } from "../../../src/describe/reference/exact_json.ts";

const field = (name: string, type: string, operators: Field["operators"] = ["eq"]): Field => ({
  ...{ name, type, operators },
  ...{ nullable: true, primary_key: false, writable: true, comment: null },
});
const fields = [
  ...[field("a", "int8"), field("b", "text[]"), field("c", "jsonb"), field("d", "float8")],
  ...[field("e", "json", ["is_null"]), field("f", "numeric[]"), field("g", "text")],
];
const row = {
  ...{ id: 1, a: "9007199254740993", b: ['x"', null, ["\\"]], c: parseExact('{"n":1.50}') },
  ...{ d: parseExact("1e+20"), e: { x: 1 }, f: parseExact("[1.50,12345678901234567890]"), g: null },
};

describe("the values that an update was shown", () => {
  it("are added to its filters, of what it changes, as text that loses nothing [CL5]", () => {
    const changed = { a: 1, b: [], c: {}, d: 1, e: {}, f: [], g: "x" };
    const request = {
      method: "PATCH",
      path: "x/single",
      body: { filters: { id: 1 }, fields: changed },
    };
    const { body } = addShownValues(request as never, { row, fields });
    assertEquals(JSON.parse(writeExact((body as { filters: object }).filters)), {
      ...{ a: "9007199254740993", b: '{"x\\"",NULL,{"\\\\"}}', c: '{"n":1.50}', d: "1e+20" },
      ...{ f: "{1.50,12345678901234567890}", g: null, id: 1 },
    });
    const one = { ...request, body: { filters: { g: "y" }, fields: { g: "x" } } };
    assertEquals(addShownValues(one as never, { row, fields }).body, one.body);
  });

  it("are compared where a filter cannot do that [CL5]", () => {
    const request = { body: { filters: { id: 1 }, fields: { e: 1, a: 2 } } } as never;
    assertEquals(isMoved(request, { row, now: { ...row, a: "2" }, fields }), false);
    assertEquals(isMoved(request, { row, now: { ...row, e: { x: 2 } }, fields }), true);
    assertEquals(isMoved(request, { row, now: undefined, fields }), true);
  });
});
