import type { Picture } from "./draw.ts";
import { computeMedians } from "./medians.ts";
import type { Turn } from "./load.ts";
import { printTable } from "./report.ts";

/** One line at one value of the axis. */
export interface Point {
  readonly x: number;
  readonly line: string;
  readonly turns: readonly Turn[];
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
  const rows = points.map(({ x, line, turns }) => {
    const { requestsPerSecond, p99, serviceCpu, postgresCpu } = computeMedians({ turns });
    return [
      line,
      x.toLocaleString("en"),
      requestsPerSecond.toFixed(0),
      p99.toFixed(1),
      serviceCpu.toFixed(0),
      postgresCpu.toFixed(0),
    ];
  }).toSorted((a, b) => a[0]!.localeCompare(b[0]!));
  const head = ["request", label, "requests/s", "p99 ms", "µs service", "µs Postgres"];
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

/** Draws requests/s and CPU a request along an axis, both on logarithmic scales. */
export function pictureGrowth({ name, label, points }: Grown): Picture[] {
  const values = points.map(({ x, line, turns }) => {
    const { requestsPerSecond, serviceCpu, postgresCpu } = computeMedians({ turns });
    return { x, line, requestsPerSecond, cpu: serviceCpu + postgresCpu };
  });
  const chart = (field: string, title: string) => ({
    width: 380,
    height: 260,
    mark: { type: "line", point: true },
    encoding: {
      x: { field: "x", type: "quantitative", title: label, scale: { type: "log" } },
      y: { field, type: "quantitative", title, scale: { type: "log" } },
      // Vega truncates the names of lines at 160 pixels.
      color: { field: "line", type: "nominal", title: null, legend: { labelLimit: 0 } },
    },
  });
  const hconcat = [chart("requestsPerSecond", "requests/s"), chart("cpu", "µs CPU a request")];
  return [{ name: `growth_${name}`, specification: { ...LOOK, data: { values }, hconcat } }];
}
