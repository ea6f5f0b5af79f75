import type { Picture } from "./draw.ts";
import { computeMedians } from "./medians.ts";
import type { Turn } from "./load.ts";
import { printTable } from "./report.ts";

/** One line at one value of the axis. */
export interface Point {
  readonly x: number;
  readonly line: string;
  readonly turns: readonly Turn[];
  /** Bytes that the service had in memory afterwards. */
  readonly memory: number;
}

/** What was measured along one axis. */
export interface Grown {
  readonly name: string;
  readonly label: string;
  readonly points: readonly Point[];
}

const LOOK = { $schema: "https://vega.github.io/schema/vega-lite/v6.json", background: "white" };

/** Prints an axis as Markdown: a row for each value, and how each line grows. */
export function printGrowth({ name, label, points }: Grown): string {
  const rows = points.map(({ x, line, turns, memory }) => {
    const { requestsPerSecond, p99, serviceCpu, postgresCpu } = computeMedians({ turns });
    return [
      line,
      x.toLocaleString("en"),
      requestsPerSecond.toFixed(0),
      p99.toFixed(1),
      serviceCpu.toFixed(0),
      postgresCpu.toFixed(0),
      (memory / 1e6).toFixed(0),
    ];
  }).toSorted((a, b) => a[0]!.localeCompare(b[0]!));
  const head = ["request", label, "requests/s", "p99 ms", "µs service", "µs Postgres", "MB"];
  const slopes = [...Map.groupBy(points, ({ line }) => line)].map(([line, own]) =>
    `- ${line}: CPU grows with the power ${slope(own).toFixed(2)} of it\n`
  );
  return `## ${name}\n\n${printTable(head, rows)}\n${slopes.join("")}`;
}

/** 0: constant; 1: linear; a logarithm lies near 0. By least squares over the logarithms. */
function slope(points: readonly Point[]): number {
  const logs = points.map(({ x, turns }) => {
    const { serviceCpu, postgresCpu } = computeMedians({ turns });
    return [Math.log(x), Math.log(serviceCpu + postgresCpu)] as const;
  });
  const mean = (place: 0 | 1) => logs.reduce((sum, log) => sum + log[place], 0) / logs.length;
  const [x, y] = [mean(0), mean(1)];
  const above = logs.reduce((sum, log) => sum + (log[0] - x) * (log[1] - y), 0);
  const below = logs.reduce((sum, log) => sum + (log[0] - x) ** 2, 0);
  return above / below;
}

/** Draws requests/s and CPU a request along an axis. */
export function pictureGrowth({ name, label, points }: Grown, report = "growth"): Picture {
  const values = points.map(({ x, line, turns }) => {
    const { requestsPerSecond, serviceCpu, postgresCpu } = computeMedians({ turns });
    return { x, line, requestsPerSecond, cpu: serviceCpu + postgresCpu };
  });
  const charts = [
    { field: "requestsPerSecond", title: "requests/s" },
    { field: "cpu", title: "µs CPU a request" },
  ] as const;
  return pictureLines(`${report}_${name}`, { label, values, charts });
}

/** The points of charts side by side: where each is, on which line, and its value in each chart. */
export interface Lines<Field extends string> {
  readonly label: string;
  readonly values:
    readonly ({ readonly x: number; readonly line: string } & Record<Field, number>)[];
  readonly charts: readonly { readonly field: Field; readonly title: string }[];
}

/** Draws lines on logarithmic scales, in charts side by side. */
export function pictureLines<Field extends string>(
  name: string,
  { label, values, charts }: Lines<Field>,
): Picture {
  const hconcat = charts.map(({ field, title }) => ({
    width: 380,
    height: 260,
    mark: { type: "line", point: true },
    encoding: {
      x: { field: "x", title: label, ...logarithmic(values.map(({ x }) => x)) },
      y: { field, title, ...logarithmic(values.map((value) => value[field])) },
      // Vega truncates the names of lines at 160 pixels.
      color: { field: "line", type: "nominal", title: null, legend: { labelLimit: 0 } },
    },
  }));
  return { name, specification: { ...LOOK, data: { values }, hconcat } };
}

/** A scale with a tick at 1, 2 and 5 of each power: Vega's nine and their hidden labels fill a file. */
function logarithmic(numbers: readonly number[]): object {
  const [least, most] = [Math.min(...numbers), Math.max(...numbers)];
  const [first, last] = [Math.floor(Math.log10(least)), Math.ceil(Math.log10(most))];
  const powers = Array.from({ length: last - first + 1 }, (_, place) => 10 ** (first + place));
  const steps = powers.length > 4 ? [1] : [1, 2, 5];
  const ticks = powers.flatMap((power) =>
    steps.map((step) => Number((step * power).toPrecision(1)))
  );
  const values = ticks.filter((tick) => tick <= 10 ** last);
  const axis = { values, format: "~s", labelOverlap: false };
  return { type: "quantitative", scale: { type: "log" }, axis };
}
