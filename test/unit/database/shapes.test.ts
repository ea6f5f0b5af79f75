import { assertEquals, assertThrows } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import postgres from "postgres";
import type { Fragment, PendingQuery, Row } from "postgres";
import { openShapes } from "../../../src/database/shapes.ts";

// Never connected: only queries are made.
const sql = postgres({ host: "127.0.0.1", port: 1, max: 1 });

function isPrepared(query: PendingQuery<Row[]>): boolean {
  return (query as unknown as { options: { prepare?: boolean } }).options.prepare !== false;
}

describe("openShapes", () => {
  it("prepares the first shapes and no others [RELIABILITY 0.6]", () => {
    const shapes = openShapes(2);
    const prepared = ["a", "b", "c", "a", "b", "d"].map((name) => {
      const query = sql`select 1 as ${sql(name)}`;
      shapes.admit(query);
      return isPrepared(query);
    });
    assertEquals(prepared, [true, true, false, true, true, false]);
  });

  it("counts values as one shape, and fragments by their text", () => {
    const shapes = openShapes(1);
    const make = (value: string | null, order: Fragment) => {
      const query = sql`select * from t where a = ${value}::text ${order}`;
      shapes.admit(query);
      return isPrepared(query);
    };
    const order = () => sql`order by ${sql("b")}`;
    assertEquals(make("1", order()), true);
    assertEquals(make(null, order()), true);
    assertEquals(make("1", sql`order by c`), false);
    assertEquals(make("2", sql`${order()}`), true);
  });

  it("refuses a parameter whose type the driver would guess [RELIABILITY 0.2]", () => {
    const shapes = openShapes();
    const values: unknown[] = [
      1,
      true,
      1n,
      undefined,
      new Date(0),
      {},
      [],
      ["a"],
      new Uint8Array(1),
    ];
    for (const value of values) {
      assertThrows(() => shapes.admit(sql`select ${value as string}`), TypeError);
    }
  });

  it("lets strings, nulls, fragments, lists of fragments and identifiers through", () => {
    const shapes = openShapes();
    shapes.admit(sql`select ${"a"}, ${null}, ${sql("x")}, ${sql`1`} ${[sql`, 2`, sql`, ${"3"}`]}`);
  });
});
