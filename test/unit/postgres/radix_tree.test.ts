import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import fc from "fast-check";
import { openRadixTree } from "../../../src/postgres/radix_tree.ts";

describe("openRadixTree", () => {
  it("finds what was put behind a sequence last, and nothing behind any other", () => {
    const steps = fc.array(fc.constantFrom("a", "b", "c"), { maxLength: 5 });
    fc.assert(fc.property(fc.array(steps, { maxLength: 60 }), steps, (sequences, other) => {
      const tree = openRadixTree<string, number>();
      const expected = new Map<string, number>();
      for (const [value, sequence] of sequences.entries()) {
        tree.set(sequence, value);
        expected.set(sequence.join(), value);
        for (const each of [...sequences, other]) {
          assertEquals(tree.get(each), expected.get(each.join()));
        }
      }
    }));
  });
});
