import type { Cell, Measured } from "./rounds.ts";

/** What the turns of a cell come to. */
export interface Medians {
  /** Medians over the rounds; CPU in microseconds a request, latencies in milliseconds. */
  readonly requestsPerSecond: number;
  readonly p50: number;
  readonly p99: number;
  readonly serviceCpu: number;
  readonly postgresCpu: number;
  /** Postgres's share of the CPU, 0 to 1. */
  readonly share: number;
  /** Half the distance between the best and the worst round, as a share of the median. */
  readonly spread: number;
  readonly errors: number;
}

/** Computes the medians of a cell over its turns. */
export function computeMedians({ turns }: Pick<Cell, "turns">): Medians {
  const of = (name: Exclude<keyof Cell["turns"][number], "responses">) =>
    median(turns.map((turn) => turn[name]));
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

/** Finds the cell of another contender for the same work and concurrency. */
export function findCell(
  { cells }: Measured,
  { work, concurrency }: Cell,
  contender: string,
): Cell | undefined {
  return cells.find((cell) =>
    cell.work === work && cell.concurrency === concurrency && cell.contender === contender
  );
}

/** Gives the middle one, or the mean of the two in the middle. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  return sorted.length % 2 === 1
    ? sorted[Math.floor(middle)]!
    : (sorted[middle - 1]! + sorted[middle]!) / 2;
}
