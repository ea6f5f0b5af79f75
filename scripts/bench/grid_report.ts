import { printTable } from "./report.ts";

/** One request on one shape of data, and its best time with each contender, in milliseconds. */
export interface GridTimes {
  readonly shape: string;
  readonly data: string;
  readonly variant: string;
  readonly times: Readonly<Record<string, number>>;
}

/** Milliseconds that planning may take, which the best contender may not need. */
const PLANNING_MS = 0.2;

/** Rowgate's time, less that of planning, as a multiple of the best other one. */
export function excessOf({ times }: Pick<GridTimes, "times">): number {
  return (times["rowgate"]! - PLANNING_MS) / bestOf({ times });
}

function bestOf({ times }: Pick<GridTimes, "times">): number {
  const others = Object.entries(times).filter(([name]) => name !== "rowgate");
  return Math.min(...others.map(([, ms]) => ms));
}

/** Prints the grid: in each cell Rowgate's time and the best other one, of the worst request. */
export function printGrid(all: readonly GridTimes[], limit: number): string {
  const columns = [...new Set(all.map(({ data }) => data))];
  const rows = [...Map.groupBy(all, ({ shape }) => shape)].map(([shape, own]) => [
    shape,
    ...columns.map((data) => {
      const worst = own.filter((one) => one.data === data)
        .reduce((a, b) => excessOf(b) > excessOf(a) ? b : a);
      const cell = `${formatMs(worst.times["rowgate"]!)} / ${formatMs(bestOf(worst))}`;
      return excessOf(worst) > limit ? `**${cell}**` : cell;
    }),
  ]);
  const above = all.filter((one) => excessOf(one) > limit)
    .toSorted((a, b) => excessOf(b) - excessOf(a));
  const list = above.length === 0
    ? `No request of ${all.length} takes more than ${limit} times the best.\n`
    : `${above.length} of ${all.length} requests take more than ${limit} times the best:\n\n${
      printTable(
        ["request", "data", "Rowgate", "custom", "generic", "literal"],
        above.map(({ shape, data, variant, times }) => [
          `${shape}: ${variant}`,
          data,
          ...["rowgate", "custom", "generic", "literal"].map((name) => formatMs(times[name]!)),
        ]),
      )
    }`;
  const head = ["ms", ...columns.map((name) => name.replace("_", " "))];
  return `${printTable(head, rows)}\n${list}`;
}

function formatMs(ms: number): string {
  return ms < 10 ? ms.toFixed(2) : ms.toFixed(0);
}
