import { median } from "./medians.ts";
import { printTable } from "./report.ts";
import type { Timing } from "./timed_client.ts";
import type { Work } from "./options.ts";

/** The requests that are the burst. */
export const FIRST = 200;
/** When the steady state begins: this long after the first request. */
const SETTLED_MS = 1000;
/** What a burst may take, as multiples of the steady state. */
const GOALS = { p50: 1.3, p99: 2 };

/** Latencies of a burst and of the steady state after it, in milliseconds. */
export interface Burst {
  readonly work: Work;
  readonly contender: string;
  /** How long nothing was sent before it. */
  readonly quietSeconds: number;
  readonly first: Latencies;
  readonly steady: Latencies;
}

/** Percentiles, in milliseconds. */
export interface Latencies {
  readonly p50: number;
  readonly p99: number;
}

/**
 * Compares the first 200 requests with those that begin a second later or after that. The p99 of the
 * burst is the third largest of its 200 latencies.
 * @throws {Error} when no request is left for the steady state
 */
export function compareBurst(timings: readonly Timing[]): Pick<Burst, "first" | "steady"> {
  const settledMs = (timings[0]?.startMs ?? 0) + SETTLED_MS;
  const steady = timings.slice(FIRST).filter(({ startMs }) => startMs >= settledMs);
  if (steady.length === 0) throw new Error("the burst is all there was: load for longer");
  return { first: readLatencies(timings.slice(0, FIRST)), steady: readLatencies(steady) };
}

function readLatencies(timings: readonly Timing[]): Latencies {
  const sorted = timings.map(({ tookMs }) => tookMs).toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.ceil(sorted.length * share) - 1]!;
  return { p50: at(0.5), p99: at(0.99) };
}

/** Prints a row for each work, contender and length of quiet: medians over the rounds, and the worst. */
export function printBursts(bursts: readonly Burst[]): string {
  const groups = Map.groupBy(
    bursts,
    ({ work, contender, quietSeconds }) => `${work} ${contender} ${quietSeconds}`,
  );
  const rows = [...groups.values()]
    .toSorted(([a], [b]) =>
      compareNames(a!.work, b!.work) || compareNames(a!.contender, b!.contender)
    )
    .map((rounds) => {
      const { work, contender, quietSeconds } = rounds[0]!;
      const ratios = [...printRatio(rounds, "p50"), ...printRatio(rounds, "p99")];
      return [work, contender, String(quietSeconds), ...ratios];
    });
  const head = ["p50", "p99"].flatMap((name) => [`${name} in ms`, "×"]);
  return printTable(["work", "server", "quiet", ...head], rows);
}

function compareNames(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}

/** The goal is missed where the ratio is bold. */
function printRatio(rounds: readonly Burst[], name: "p50" | "p99"): string[] {
  const of = (part: "first" | "steady") => median(rounds.map((round) => round[part][name]));
  const ratios = rounds.map(({ first, steady }) => first[name] / steady[name]);
  const own = rounds[0]!.contender.startsWith("rowgate");
  const ratio = median(ratios).toFixed(2);
  const most = rounds.length > 1 ? ` (${Math.max(...ratios).toFixed(2)})` : "";
  return [
    `${of("first").toFixed(2)}, ${of("steady").toFixed(2)}`,
    (own && median(ratios) > GOALS[name] ? `**${ratio}**` : ratio) + most,
  ];
}
