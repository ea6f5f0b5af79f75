import { assertEquals, assertThrows } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { readFile } from "node:fs/promises";
import { averageCost, computeNeed, printNeeds, readCosts } from "../../scripts/bench/capacity.ts";

const read = (path: string) => readFile(new URL(path, import.meta.url), "utf8");
const MIX = new Map([["Q1", 70], ["Q2", 10], ["Q3", 10], ["U1", 10]]);

/** Cells without the padding of the formatter. */
const plain = (text: string) => text.replaceAll(/ +/g, " ").replaceAll(/-+/g, "-");

describe("what a number of requests needs", () => {
  it("is computed from the costs of the results", () => {
    const results = "### Q1: a\n\n| rowgate node | 16 | 1 | 2 | 3 | 4 | 5 | 6 | 100 | 200 |\n" +
      "### U1: b\n\n| rowgate node | 16 | 1 | 2 | 3 | 4 | 5 | 6 | 300 | 400 |\n";
    const costs = readCosts(results, "node");
    const cost = averageCost(costs, new Map([["Q1", 3], ["U1", 1]]));
    assertEquals(cost, { serviceMicros: 150, postgresMicros: 250 });
    assertThrows(() => averageCost(costs, new Map([["Q9", 1]])), Error, "no request Q9");
    assertEquals(computeNeed(600_000, cost), {
      // 1.5 processors at half their capacity, and one that may be gone.
      instances: 4,
      sessions: 40,
      postgresCores: 2.5,
      servers: 1,
    });
  });

  it("is what the page for operators has", async () => {
    const cost = averageCost(
      readCosts(await read("../../docs/performance/results.md"), "node"),
      MIX,
    );
    const table = printNeeds([1000, 100_000, 10_000_000], cost).trim();
    const page = plain(await read("../../docs/operations/capacity.md"));
    for (const line of plain(table).split("\n")) assertEquals(page.includes(line), true, line);
  });
});
