import { median } from "./medians.ts";
import { printTable } from "./report.ts";

/** How much longer a request of the neighbour may take, at the 99th percentile. */
const LIMIT = 3;

/** How long B waited for a response, in ms; undefined when none came. */
export interface Latency {
  readonly p99: number;
  readonly longest: number;
  readonly errors: number;
}

/** Each work of B. */
export type Measured = Readonly<Record<string, Latency | undefined>>;

/** What was measured beside an attack, and what the attack itself came to. */
export interface Beside {
  readonly name: string;
  readonly measured: Measured;
  readonly itself: string;
}

/** Prints the table of a contender. */
export function printContender(
  name: string,
  alone: readonly Measured[],
  beside: readonly Beside[],
): string {
  const works = Object.keys(alone[0]!);
  const listP99s = (work: string) => alone.flatMap((measured) => measured[work]?.p99 ?? []);
  const usual = new Map(works.map((work) => [work, median(listP99s(work))]));
  const printLongest = (all: readonly Measured[]) => {
    const latencies = all.flatMap((measured) => Object.values(measured));
    if (latencies.includes(undefined)) return "none";
    return Math.max(...latencies.map((latency) => latency!.longest)).toFixed(0);
  };
  const rows = beside.map(({ name, measured, itself }) => {
    const cells = works.map((work) => {
      const latency = measured[work];
      if (latency === undefined) return "**none**";
      const ratio = latency.p99 / usual.get(work)!;
      const missed = !(ratio <= LIMIT) || latency.errors > 0;
      const cell = `${printNumber(latency.p99)} (${printNumber(ratio)})`;
      const errors = latency.errors > 0 ? `, ${latency.errors} errors` : "";
      return `${missed ? `**${cell}**` : cell}${errors}`;
    });
    return [name, ...cells, printLongest([measured]), itself];
  });
  const head = [name, ...works, "max", "A's rate"];
  return printTable(head, [
    ["alone", ...works.map((work) => printNumber(usual.get(work)!)), "", ""],
    ...rows,
    [
      "alone, at worst",
      ...works.map((work) => printNumber(Math.max(...listP99s(work)))),
      printLongest(alone),
      "",
    ],
  ]);
}

/** One decimal, but of large numbers none; "none" where nothing was measured. */
function printNumber(number: number): string {
  if (!Number.isFinite(number)) return "none";
  return number.toFixed(number < 100 ? 1 : 0);
}
