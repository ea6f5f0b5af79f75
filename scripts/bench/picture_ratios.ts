import type { Picture } from "./draw.ts";
import { computeMedians, findCell } from "./medians.ts";
import { WORKS } from "./options.ts";
import type { Measured } from "./rounds.ts";

const LOOK = { $schema: "https://vega.github.io/schema/vega-lite/v6.json", background: "white" };

/** Draws requests/s as multiples of PostgREST's, one chart for each concurrency. */
export function pictureRatios(measured: Measured): Picture[] {
  return measured.concurrency.map((concurrency) => {
    const shown = measured.cells.filter((cell) =>
      cell.concurrency === concurrency && cell.contender !== "postgrest"
    );
    const values = shown.map((cell) => {
      const peer = findCell(measured, cell, "postgrest");
      const own = computeMedians(cell).requestsPerSecond;
      const times = peer === undefined ? 0 : own / computeMedians(peer).requestsPerSecond;
      return { work: cell.work, contender: cell.contender, times };
    });
    return {
      name: `ratios_${concurrency}`,
      specification: {
        ...LOOK,
        title: `Requests/s as multiples of PostgREST's, ${concurrency} at a time`,
        width: { step: 11 },
        height: 220,
        data: { values },
        mark: "bar",
        encoding: {
          x: { field: "work", type: "nominal", title: null, sort: WORKS, axis: { labelAngle: 0 } },
          xOffset: { field: "contender" },
          y: { field: "times", type: "quantitative", title: "× PostgREST" },
          color: { field: "contender", type: "nominal", title: null },
        },
      },
    };
  });
}
