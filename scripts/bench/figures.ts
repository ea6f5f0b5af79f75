import type { Cell, Measured } from "./rounds.ts";
import type { Runtime, Work } from "./options.ts";

/** What a cell comes to. */
export interface Figures {
  /** Medians over the rounds. */
  readonly requestsPerSecond: number;
  readonly p50: number;
  readonly p99: number;
  readonly serviceCpu: number;
  readonly postgresCpu: number;
  /** Postgres's part of the CPU, 0 to 1. */
  readonly share: number;
  /** Half the distance between the best and the worst round, as a part of the median. */
  readonly spread: number;
  readonly errors: number;
}

/** The figures to reach. */
interface Target {
  /** Times PostgREST's requests/s, by runtime: at 16 and at 64. */
  readonly peer: Readonly<Record<Runtime, readonly [number, number]>>;
  /** Of the bare handler's requests/s. */
  readonly bare?: number;
  /** Postgres's share of the CPU. */
  readonly share?: number;
}

/** By work. @see docs/performance.md */
export const TARGETS: Readonly<Record<Work, Target>> = {
  Q1: { peer: { deno: [3.5, 5], bun: [3.8, 6], node: [2.6, 4] }, bare: 0.9 },
  Q2: { peer: { deno: [2.2, 2.4], bun: [2.4, 2.6], node: [1.9, 2] }, share: 0.85 },
  Q2W: { peer: { deno: [1.3, 1.3], bun: [1.3, 1.3], node: [1.3, 1.3] }, share: 0.95 },
  Q3: { peer: { deno: [1.35, 1.4], bun: [1.35, 1.4], node: [1.15, 1.2] }, share: 0.85 },
  U1: { peer: { deno: [3, 4.2], bun: [3.2, 4.5], node: [2, 2.8] }, bare: 0.85 },
  U2: { peer: { deno: [1.8, 1.8], bun: [1.8, 1.8], node: [1.6, 1.6] }, share: 0.85 },
};

/** Comes to the figures of a cell. */
export function figure({ turns }: Pick<Cell, "turns">): Figures {
  const of = (name: keyof Cell["turns"][number]) => median(turns.map((turn) => turn[name]));
  const rates = turns.map(({ requestsPerSecond }) => requestsPerSecond);
  const requestsPerSecond = median(rates);
  const [serviceCpu, postgresCpu] = [of("serviceCpu"), of("postgresCpu")];
  return {
    requestsPerSecond,
    p50: of("p50"),
    p99: of("p99"),
    serviceCpu,
    postgresCpu,
    share: postgresCpu / (serviceCpu + postgresCpu),
    spread: (Math.max(...rates) - Math.min(...rates)) / 2 / requestsPerSecond,
    errors: turns.reduce((sum, { errors }) => sum + errors, 0),
  };
}

/** Finds the cell of another contender at the same work and concurrency. */
export function findBeside(
  { cells }: Measured,
  { work, concurrency }: Cell,
  contender: string,
): Cell | undefined {
  return cells.find((cell) =>
    cell.work === work && cell.concurrency === concurrency && cell.contender === contender
  );
}

/** Gives the ratio to the peer that is to be reached; undefined where the issue names none. */
export function targetOf({ work, concurrency, runtime }: Cell): number | undefined {
  const place = [16, 64].indexOf(concurrency);
  return runtime === undefined ? undefined : TARGETS[work].peer[runtime][place];
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  return sorted.length % 2 === 1
    ? sorted[Math.floor(middle)]!
    : (sorted[middle - 1]! + sorted[middle]!) / 2;
}
