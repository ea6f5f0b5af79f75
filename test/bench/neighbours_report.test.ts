import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { printContender } from "../../scripts/bench/neighbours_report.ts";

const took = (p99: number, errors = 0) => ({ p99, longest: 2 * p99, errors });

/** The cells of each line of the table, without its head. */
function readRows(table: string): string[][] {
  return table.trim().split("\n").slice(2)
    .map((line) => line.split("|").slice(1, -1).map((cell) => cell.trim()));
}

describe("the table of a contender beside its neighbours", () => {
  it("has what is above three times B alone in bold, as is an error or no response", () => {
    const alone = [{ read: took(1), write: took(2) }, { read: took(1), write: took(2) }];
    const table = printContender("Rowgate", alone, [
      { name: "within", measured: { read: took(3), write: took(6) }, itself: "7" },
      { name: "above", measured: { read: took(3.1), write: took(2, 1) }, itself: "7" },
      { name: "nothing", measured: { read: undefined, write: took(2) }, itself: "7" },
    ]);
    assertEquals(readRows(table), [
      ["alone", "1.0", "2.0", "", ""],
      ["within", "3.0 (3.0)", "6.0 (3.0)", "12", "7"],
      ["above", "**3.1 (3.1)**", "**2.0 (1.0)**, 1 errors", "6", "7"],
      ["nothing", "**none**", "2.0 (1.0)", "none", "7"],
      ["alone, at worst", "1.0", "2.0", "4", ""],
    ]);
  });

  it("says so when B alone had no response", () => {
    const table = printContender("bare", [{ read: undefined }], [
      { name: "lists", measured: { read: took(3) }, itself: "7" },
    ]);
    assertEquals(readRows(table), [
      ["alone", "none", "", ""],
      ["lists", "**3.0 (none)**", "6", "7"],
      ["alone, at worst", "none", "none", ""],
    ]);
  });
});
