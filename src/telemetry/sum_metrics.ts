import { AggregatorRegistry, type MetricObjectWithValues, type MetricValue } from "prom-client";

/** The figures of one process, as data that goes from process to process. */
export type Figures = readonly MetricObjectWithValues<MetricValue<string>>[];

/** Adds figures of several processes up; gauges that all of them share are the largest. */
export async function addFigures(parts: readonly Figures[]): Promise<Figures> {
  return await add(parts).getMetricsAsJSON();
}

/** Prints the sum of the figures of several processes as Prometheus text. */
export function printFigures(parts: readonly Figures[]): Promise<string> {
  return add(parts).metrics();
}

/**
 * Gives what stays true of a process that does not answer, or is gone: a count that fell would be
 * taken for a restart, and all of it counted once more.
 */
export function keepCounts(figures: Figures): Figures {
  return figures.filter(({ type }) => String(type) !== "gauge");
}

function add(parts: readonly Figures[]) {
  return AggregatorRegistry.aggregate(parts as unknown as object[]);
}
