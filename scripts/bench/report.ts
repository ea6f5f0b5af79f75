import { figure, findBeside, targetOf, TARGETS } from "./figures.ts";
import type { Cell, Measured } from "./rounds.ts";

const HEAD = [
  "work",
  "at",
  "contender",
  "requests/s",
  "spread",
  "× PostgREST",
  "wanted",
  "× bare",
  "wanted",
  "p50 ms",
  "p99 ms",
  "p99 of PostgREST",
  "µs CPU service",
  "µs CPU Postgres",
  "Postgres's share",
  "wanted",
  "errors",
];

/** Whose multiples the figures are. */
const PEER = "postgrest";

/** Prints what was measured as Markdown: a row for each contender on each work. */
export function printReport(measured: Measured): string {
  const { when, machine, postgres, rounds, seconds, cells } = measured;
  const rows = cells.map((cell) => printCell(measured, cell));
  return `${when}, ${machine}, ${postgres}; medians of ${rounds} alternating rounds of ${seconds} s.
Bold: not reached. In brackets: above what the bare handler itself reached beside it.

${printTable(HEAD, rows)}`;
}

function printCell(measured: Measured, cell: Cell): string[] {
  const own = figure(cell);
  const isOurs = cell.kind === "rowgate";
  const peer = cell.contender === PEER ? undefined : findBeside(measured, cell, PEER);
  const bare = isOurs ? findBeside(measured, cell, `bare ${cell.runtime}`) : undefined;
  const target = TARGETS[cell.work];
  const slowest = isOurs && peer ? figure(peer).p99 : undefined;
  const share = isOurs ? target.share : undefined;
  return [
    cell.work,
    String(cell.concurrency),
    cell.contender,
    own.requestsPerSecond.toFixed(0),
    `± ${(own.spread * 100).toFixed(0)} %`,
    ...judge(ratio(cell, peer), isOurs ? targetOf(cell) : undefined, ratio(bare, peer)),
    ...judge(ratio(cell, bare), isOurs ? target.bare : undefined),
    own.p50.toFixed(2),
    slowest !== undefined && own.p99 > slowest ? `**${own.p99.toFixed(2)}**` : own.p99.toFixed(2),
    slowest?.toFixed(2) ?? "",
    own.serviceCpu.toFixed(0),
    own.postgresCpu.toFixed(0),
    ...judge(own.share, share),
    String(own.errors),
  ];
}

/** How many times the answers of the other. */
function ratio(one: Cell | undefined, other: Cell | undefined): number | undefined {
  return one && other && figure(one).requestsPerSecond / figure(other).requestsPerSecond;
}

/** The figure, bold where it stays below what is wanted, and what is wanted, in brackets above the floor. */
function judge(
  found: number | undefined,
  wanted: number | undefined,
  floor = Infinity,
): [string, string] {
  if (found === undefined) return ["", ""];
  const text = found.toFixed(2);
  if (wanted === undefined) return [text, ""];
  const least = floor < wanted ? `(≥ ${wanted})` : `≥ ${wanted}`;
  return [found < wanted ? `**${text}**` : text, least];
}

/** Prints a table of Markdown. */
export function printTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |\n`;
  return line(head) + line(head.map(() => "---")) + rows.map(line).join("");
}
