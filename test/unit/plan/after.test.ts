import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { planZones, type Zone } from "../../../src/records/plan/after.ts";
import type { OrderKey } from "../../../src/records/plan/total_order.ts";
import { makeColumn } from "../../support/table.ts";

const ID = makeColumn("id", "int8", { nullable: false });
const A = makeColumn("a", "text", { nullable: false });
const B = makeColumn("b", "text", { nullable: false });
/** May be NULL. */
const N = makeColumn("n", "text");
const DOMAIN = makeColumn("d", "text", { nullable: false, type: "needed_text", baseType: "text" });

const up = (column: OrderKey["column"]): OrderKey => ({ column, descending: false });
const down = (column: OrderKey["column"]): OrderKey => ({ column, descending: true });

/** Prints a zone as SQL would. */
function print({ same, behind }: Zone): string {
  const before = same.map(({ column, value }) =>
    value === null ? `${column.name} is null` : `${column.name} = ${value}`
  );
  if (behind.kind !== "row") {
    return [...before, `${behind.column.name} is ${behind.kind}`].join(" and ");
  }
  const names = behind.places.map(({ column }) => column.name).join();
  const values = behind.places.map(({ value }) => value).join();
  const sign = behind.places[0]!.descending ? "<" : ">";
  return [...before, `(${names}) ${sign} (${values})`].join(" and ");
}

function zones(order: readonly OrderKey[], ...values: (string | null)[]): string[] {
  return planZones(order, values).map(print);
}

describe("the rows behind a row", () => {
  it("are one comparison where all keys go in one direction", () => {
    assertEquals(zones([up(ID)], "7"), ["(id) > (7)"]);
    assertEquals(zones([up(A), up(B), up(ID)], "x", "y", "7"), ["(a,b,id) > (x,y,7)"]);
    assertEquals(zones([down(A), down(ID)], "x", "7"), ["(a,id) < (x,7)"]);
  });

  it("are nearest first where directions are mixed", () => {
    assertEquals(zones([down(A), up(ID)], "x", "7"), ["a = x and (id) > (7)", "(a) < (x)"]);
    assertEquals(zones([up(A), down(B), up(ID)], "x", "y", "7"), [
      "a = x and b = y and (id) > (7)",
      "a = x and (b) < (y)",
      "(a) > (x)",
    ]);
    assertEquals(zones([down(A), up(B), up(ID)], "x", "y", "7"), [
      "a = x and (b,id) > (y,7)",
      "(a) < (x)",
    ]);
  });

  it("end with NULL ascending", () => {
    assertEquals(zones([up(N), up(ID)], "x", "7"), ["(n,id) > (x,7)", "n is null"]);
    assertEquals(zones([up(N), up(ID)], null, "7"), ["n is null and (id) > (7)"]);
    assertEquals(zones([up(A), up(N), up(ID)], "x", "y", "7"), [
      "a = x and (n,id) > (y,7)",
      "a = x and n is null",
      "(a) > (x)",
    ]);
    assertEquals(zones([up(DOMAIN), up(ID)], "x", "7"), ["(d,id) > (x,7)", "d is null"]);
  });

  it("begin with NULL descending", () => {
    assertEquals(zones([down(N), down(ID)], "x", "7"), ["(n,id) < (x,7)"]);
    assertEquals(zones([down(N), up(ID)], null, "7"), [
      "n is null and (id) > (7)",
      "n is not null",
    ]);
    assertEquals(zones([down(A), down(N), down(ID)], "x", null, "7"), [
      "a = x and n is null and (id) < (7)",
      "a = x and n is not null",
      "(a) < (x)",
    ]);
  });

  it("are none behind what can only be last", () => {
    assertEquals(zones([up(N)], null), []);
    assertEquals(zones([down(A), up(N)], "x", null), ["(a) < (x)"]);
    assertEquals(zones([down(N), up(makeColumn("m", "text"))], null, null), ["n is not null"]);
  });
});
