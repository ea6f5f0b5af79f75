import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { ABSENT, type Deed, type Event, findUnexplained } from "../../support/history.ts";

function at(start: number, end: number, deed: Deed): Event {
  return { start, end, deed, what: `${deed.kind} at ${start}` };
}

const read = (value: string): Deed => ({ kind: "read", value });
const write = (value: string): Deed => ({ kind: "write", value });
const swap = (from: string, value: string): Deed => ({ kind: "swap", from, value });
const miss = (from: string): Deed => ({ kind: "miss", from });

function explains(...events: Event[]): boolean {
  return findUnexplained(events, "a") === undefined;
}

describe("The checker of histories", () => {
  it("explains what happens one after the other", () => {
    assertEquals(explains(), true);
    assertEquals(
      explains(
        at(0, 1, swap("a", "b")),
        at(2, 3, miss("a")),
        at(4, 5, write("c")),
        at(6, 7, read("c")),
      ),
      true,
    );
  });

  it("explains what overlaps by any order of it", () => {
    assertEquals(explains(at(0, 9, write("b")), at(1, 8, read("a")), at(2, 7, read("b"))), true);
    assertEquals(explains(at(0, 9, swap("b", "c")), at(1, 8, swap("a", "b"))), true);
  });

  it("finds a lost update: two compare-and-sets of one state, or a write that is not there", () => {
    assertEquals(explains(at(0, 9, swap("a", "b")), at(1, 8, swap("a", "c"))), false);
    assertEquals(explains(at(0, 1, write("b")), at(2, 3, read("a"))), false);
  });

  it("finds a stale read, and a rejection for a state that had passed", () => {
    assertEquals(
      explains(at(0, 1, write("b")), at(2, 3, write("c")), at(4, 5, read("b"))),
      false,
    );
    assertEquals(explains(at(0, 1, write("b")), at(2, 3, miss("b"))), false);
    assertEquals(explains(at(0, 5, write("b")), at(1, 2, read("b")), at(3, 4, read("a"))), false);
  });

  it("finds a torn write: a value that was never written", () => {
    assertEquals(explains(at(0, 9, write("b 1")), at(1, 8, read("a 1"))), false);
  });

  it("finds a row that was created or deleted twice, or written where there was none", () => {
    const create = swap(ABSENT, "b");
    const take = swap("b", ABSENT);
    const replace: Deed = { kind: "replace", value: "c" };
    const finds = (...events: Event[]) => findUnexplained(events, ABSENT) !== undefined;
    assertEquals(finds(at(0, 1, create), at(2, 3, take), at(4, 5, create)), false);
    assertEquals(finds(at(0, 9, create), at(1, 8, create)), true);
    assertEquals(finds(at(0, 1, create), at(2, 5, take), at(3, 4, take)), true);
    assertEquals(finds(at(0, 1, replace), at(2, 3, create)), true);
    assertEquals(finds(at(0, 9, replace), at(2, 3, create)), false);
  });

  it("lets an update of unknown outcome take place later or never", () => {
    const lost = at(0, Infinity, swap("a", "b"));
    assertEquals(explains(lost, at(2, 3, read("a"))), true);
    assertEquals(explains(lost, at(2, 3, read("a")), at(4, 5, read("b"))), true);
    assertEquals(explains(lost, at(2, 3, read("b")), at(4, 5, read("a"))), false);
  });

  it("names the events that it could not explain", () => {
    const events = [at(0, 1, write("b")), at(2, 3, read("b")), at(4, 5, read("a"))];
    assertEquals(findUnexplained(events, "a")?.map(({ what }) => what), ["read at 4"]);
  });
});
