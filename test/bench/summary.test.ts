import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import type { Work } from "../../scripts/bench/options.ts";
import type { Cell, Measured } from "../../scripts/bench/rounds.ts";
import { compareMix, printSummary } from "../../scripts/bench/summary.ts";

const RUN = {
  rounds: 3,
  seconds: 1,
  concurrency: [16],
  seed: 1,
  machine: "",
  postgres: "15",
  when: "",
};

function makeCell(work: Work, contender: string, rates: readonly number[]): Cell {
  const rest = { requests: 1000, p50: 1, p99: 1, serviceCpu: 1, postgresCpu: 1, errors: 0 };
  const turns = rates.map((requestsPerSecond) => ({ requestsPerSecond, ...rest }));
  return { work, contender, concurrency: 16, kind: "rowgate", turns };
}

function makeResults(cells: readonly Cell[]): Measured {
  return { ...RUN, cells };
}

const DRAWN = makeResults([
  // The machine is slower in the last round, for both.
  makeCell("DR", "rowgate deno", [400, 420, 40]),
  makeCell("DR", "postgrest", [200, 200, 20]),
  makeCell("DU", "rowgate deno", [100, 100, 11]),
  makeCell("DU", "postgrest", [100, 100, 10]),
]);

describe("the results of the benchmark", () => {
  it("are compared round by round, by the geometric mean over the works", () => {
    const ratio = compareMix(DRAWN, {
      works: ["DR", "DU"],
      concurrency: 16,
      one: "rowgate deno",
      other: "postgrest",
    });
    const rounds = [Math.sqrt(2), Math.sqrt(2.1), Math.sqrt(2.2)];
    assertEquals(ratio?.median.toFixed(6), rounds[1]!.toFixed(6));
    assertEquals(ratio?.spread.toFixed(6), ((rounds[2]! - rounds[0]!) / 2).toFixed(6));
  });

  it("leave empty what was not measured", () => {
    const lines = printSummary(DRAWN).split("\n").slice(2, 6);
    assertEquals(lines, [
      "| fixed | Deno |  |  |",
      "| fixed | Bun |  |  |",
      "| fixed | Node |  |  |",
      "| drawn | Deno | 1.45 ± 2% |  |",
    ]);
  });
});
