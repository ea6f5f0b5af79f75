import { computeMedians, findCell } from "./medians.ts";
import { type Work, WORKS } from "./options.ts";
import type { Cell, Measured } from "./rounds.ts";

const DESCRIPTIONS: Readonly<Record<Work, string>> = {
  Q1: "one row by tenant and key, with total",
  Q2: "four nested conditions, a sort, 50 rows, total of about 190",
  Q2W: "the same over a wide range, total of about 3,700",
  Q3: "200 rows of 12 columns in order of time, total of 600",
  U1: "a single update by key",
  U2: "a bulk update of about 100 rows",
  DR: "40 shapes of reads, drawn from a grammar for this run",
  DU: "16 shapes of updates, drawn from a grammar for this run",
};

const HEAD = [
  "contender",
  "at",
  "req/s",
  "± %",
  "× peer",
  "× bare",
  "p50 ms",
  "p99 ms",
  "µs own",
  "µs Postgres",
];

/** "× peer" is a multiple of this contender's requests/s. */
const PEER = "postgrest";

/** Prints what was measured as Markdown: a table for each work, a row for each contender. */
export function printReport(measured: Measured): string {
  const { when, machine, postgres, rounds, seconds, seed, cells } = measured;
  const errors = cells.reduce((sum, cell) => sum + computeMedians(cell).errors, 0);
  const failed = errors === 0 ? "No request failed." : `${errors} requests failed.`;
  const tables = WORKS.flatMap((work) => {
    const rows = cells.filter((cell) => cell.work === work).map((cell) =>
      printCell(measured, cell)
    );
    return rows.length === 0
      ? []
      : [`\n## ${work}: ${DESCRIPTIONS[work]}\n\n${printTable(HEAD, rows)}`];
  });
  return `${when}, ${machine}, ${postgres}; medians of ${rounds} alternating rounds of ${seconds} s.
The drawn works are of \`--seed=${seed}\`. ${failed}
${tables.join("")}`;
}

function printCell(measured: Measured, cell: Cell): string[] {
  const own = computeMedians(cell);
  const peer = cell.contender === PEER ? undefined : findCell(measured, cell, PEER);
  const bare = cell.kind === "rowgate"
    ? findCell(measured, cell, `bare ${cell.runtime}`)
    : undefined;
  return [
    cell.contender,
    String(cell.concurrency),
    own.requestsPerSecond.toFixed(0),
    (own.spread * 100).toFixed(0),
    ratio(cell, peer)?.toFixed(2) ?? "",
    ratio(cell, bare)?.toFixed(2) ?? "",
    own.p50.toFixed(2),
    own.p99.toFixed(2),
    own.serviceCpu.toFixed(0),
    own.postgresCpu.toFixed(0),
  ];
}

/** One cell's requests/s as a multiple of another's. */
function ratio(one: Cell, other: Cell | undefined): number | undefined {
  return other && computeMedians(one).requestsPerSecond / computeMedians(other).requestsPerSecond;
}

/** Prints a table of Markdown. */
export function printTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |\n`;
  return line(head) + line(head.map(() => "---")) + rows.map(line).join("");
}
