import { assert, assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { readdir, stat } from "node:fs/promises";
import { pictureLines } from "../../scripts/bench/growth_report.ts";

const FOLDER = new URL("../../docs/performance/", import.meta.url);

/** The ticks of both axes of the first chart. */
function listTicks(xs: readonly number[], ys: readonly number[]): readonly (readonly number[])[] {
  const values = xs.map((x, place) => ({ x, line: "one", cost: ys[place]! }));
  const charts = [{ field: "cost", title: "cost" }] as const;
  const { specification } = pictureLines("test", { label: "x", values, charts });
  const [{ encoding }] = (specification as { hconcat: [{ encoding: Record<string, Axis> }] })
    .hconcat;
  return [encoding.x!.axis.values, encoding.y!.axis.values];
}

interface Axis {
  readonly axis: { readonly values: readonly number[] };
}

describe("the charts of growth", () => {
  it("have a tick at each power, and two between where there are few", () => {
    assertEquals(listTicks([1, 100_000], [3, 40]), [
      [1, 10, 100, 1000, 10_000, 100_000],
      [1, 2, 5, 10, 20, 50, 100],
    ]);
    assertEquals(listTicks([10, 20], [0.02, 0.5]), [
      [10, 20, 50, 100],
      [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1],
    ]);
  });

  it("are small files", async () => {
    for (const name of (await readdir(FOLDER)).filter((name) => name.endsWith(".svg"))) {
      const { size } = await stat(new URL(name, FOLDER));
      assert(size < 40_000, `${name} has ${size} bytes`);
    }
  });
});
