import { findCell, median } from "./medians.ts";
import { DRAWN_WORKS, FIXED_WORKS, RUNTIMES, type Work } from "./options.ts";
import { printTable } from "./report.ts";
import type { Cell, Measured } from "./rounds.ts";

/** The works of which one number is made: the geometric mean of their ratios. */
const MIXES: readonly { readonly name: string; readonly works: readonly Work[] }[] = [
  { name: "fixed", works: FIXED_WORKS },
  { name: "drawn", works: DRAWN_WORKS },
];

/** How many times as many requests/s, over the rounds. */
export interface Ratio {
  readonly median: number;
  /** Half the distance between the best and the worst round. */
  readonly spread: number;
}

/**
 * Prints Rowgate's requests/s as multiples of PostgREST's and of the bare handler's, a row for each
 * runtime, a column for each number of clients.
 */
export function printSummary(measured: Measured): string {
  const rows = MIXES.flatMap(({ name, works }) =>
    RUNTIMES.map((runtime) => [
      name,
      NAMES[runtime],
      ...["postgrest", `bare ${runtime}`].flatMap((other) =>
        measured.concurrency.map((concurrency) =>
          printRatio(compareMix(measured, { works, concurrency, one: `rowgate ${runtime}`, other }))
        )
      ),
    ])
  );
  const head = ["× PostgREST", "× bare"].flatMap((name) =>
    measured.concurrency.map((count, index) => index === 0 ? `${name}, ${count}` : String(count))
  );
  return printTable(["works", "on", ...head], rows);
}

const NAMES = { deno: "Deno", bun: "Bun", node: "Node" };

function printRatio(ratio: Ratio | undefined): string {
  if (ratio === undefined) return "";
  return `${ratio.median.toFixed(2)} ± ${(ratio.spread / ratio.median * 100).toFixed(0)}%`;
}

/** Which contenders are compared, and on what. */
export interface Comparison {
  readonly works: readonly Work[];
  readonly concurrency: number;
  readonly one: string;
  readonly other: string;
}

/**
 * Compares two contenders round by round, over several works; undefined where one of them was not
 * measured on one of the works.
 */
export function compareMix(
  measured: Measured,
  { works, concurrency, one, other }: Comparison,
): Ratio | undefined {
  const logs: number[] = Array(measured.rounds).fill(0);
  for (const work of works) {
    const own = find(measured, { work, concurrency, contender: one });
    const peer = own && findCell(measured, own, other);
    if (own === undefined || peer === undefined) return undefined;
    own.turns.forEach(({ requestsPerSecond }, round) => {
      logs[round]! += Math.log(requestsPerSecond / peer.turns[round]!.requestsPerSecond);
    });
  }
  const ratios = logs.map((log) => Math.exp(log / works.length));
  return { median: median(ratios), spread: (Math.max(...ratios) - Math.min(...ratios)) / 2 };
}

function find(
  { cells }: Measured,
  wanted: Pick<Cell, "work" | "concurrency" | "contender">,
): Cell | undefined {
  return cells.find((cell) =>
    cell.work === wanted.work && cell.concurrency === wanted.concurrency &&
    cell.contender === wanted.contender
  );
}
