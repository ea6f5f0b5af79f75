import { assert, assertEquals, assertThrows } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import type { FoundTable, Reading, ReadTable } from "../../../src/catalogue/introspection.ts";
import { addReading, type Known, NOTHING_KNOWN } from "../../../src/catalogue/known_tables.ts";

/** Only its name counts here. */
const found = (name: string) => ({ name }) as FoundTable;

const read = (oid: string, state: string, digest: string, name?: string): ReadTable => ({
  ...{ oid, state, digest },
  table: name === undefined ? null : found(name),
});

function reading(
  tables: readonly ReadTable[],
  order: readonly string[] | null,
  timeZone = "UTC",
): Reading {
  return {
    ...{ usable: ["public"], timeZone, distributes: false, types: {}, credentialTables: [] },
    ...{ tables, order },
  };
}

const add = (...readings: readonly Reading[]): Known => readings.reduce(addReading, NOTHING_KNOWN);

const FIRST = reading([read("1", "a", "x", "deals"), read("2", "b", "y", "notes")], ["2", "1"]);
const AGAIN = reading([read("1", "a", "x"), read("2", "b", "y")], null);

const namesOf = ({ introspection }: Known) => introspection.tables.map(({ name }) => name);
const listSure = ({ tables }: Known) =>
  [...tables].filter(([, { isSure }]) => isSure).map(([oid]) => oid);

describe("addReading", () => {
  it("has the tables in the order of the database", () => {
    assertEquals(namesOf(add(FIRST)), ["notes", "deals"]);
    assertEquals([...add(FIRST).tables.keys()], ["2", "1"]);
  });

  it("is sure of a table that two readings found in the same state [T79] [0012]", () => {
    assertEquals(listSure(add(FIRST)), []);
    assertEquals(listSure(add(FIRST, AGAIN)), ["2", "1"]);
    assertEquals(listSure(add(FIRST, AGAIN, reading([], null))), ["2", "1"]);
    const changed = reading([read("1", "c", "z", "offers")], ["2", "1"]);
    assertEquals(listSure(add(FIRST, AGAIN, changed)), ["2"]);
    assertEquals(listSure(add(FIRST, AGAIN, changed, reading([read("1", "c", "z")], null))), [
      "2",
      "1",
    ]);
  });

  it("takes what the second reading finds in an unchanged state, as after a revoked right [T78]", () => {
    const later = reading([read("1", "a", "w", "deals, less"), read("2", "b", "y")], ["2", "1"]);
    const known = add(FIRST, later);
    assertEquals([namesOf(known), listSure(known)], [["notes", "deals, less"], ["2"]]);
    const again = reading([read("1", "a", "w")], null);
    assertEquals(listSure(addReading(known, again)), ["2", "1"]);
  });

  it("keeps the introspection as long as nothing in it changed [T79]", () => {
    const known = add(FIRST);
    const touched = reading([read("1", "c", "x"), read("2", "b", "y")], null);
    for (const next of [AGAIN, touched, reading([], null)]) {
      assert(addReading(known, next).introspection === known.introspection);
    }
    const moved = addReading(known, reading([], null, "Asia/Tokyo")).introspection;
    assertEquals([moved.timeZone, moved.tables], ["Asia/Tokyo", known.introspection.tables]);
  });

  it("keeps a table that is described as before, and forgets one that is gone", () => {
    const known = add(FIRST);
    const next = addReading(known, reading([read("3", "d", "u", "more")], ["3", "1"]));
    assertEquals([namesOf(next), [...next.tables.keys()]], [["more", "deals"], ["3", "1"]]);
    assert(next.introspection.tables[1] === known.introspection.tables[1]);
  });

  it("rejects a reading without a description that it must have", () => {
    assertThrows(() => add(reading([read("1", "a", "x")], null)), Error, "lacks table 1");
    assertThrows(() => add(FIRST, reading([], ["1", "4"])), Error, "lacks table 4");
  });
});
