/**
 * Puts the results of dist/bench into docs/performance/results.md, the summary into
 * docs/performance.md, and the charts beside them.
 */
import { copyFile, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

const SOURCE = "dist/bench";
const PAGE = "docs/performance.md";
const FOLDER = "docs/performance";
const RESULTS = join(FOLDER, "results.md");

const charts = (await readdir(SOURCE)).filter((name) => name.endsWith(".svg")).toSorted();
await mkdir(FOLDER, { recursive: true });
for (const name of charts) await copyFile(join(SOURCE, name), join(FOLDER, name));

await publish("summary", PAGE);
await publish("results", RESULTS, "ratios");
await publish("growth", RESULTS, "growth");
await publish("neighbours", RESULTS);

/** Replaces what is between `<!-- name -->` and `<!-- end name -->` of a page, if it was measured. */
async function publish(name: string, page: string, chartPrefix?: string): Promise<void> {
  const report = await readFile(join(SOURCE, `${name}.md`), "utf8").catch(() => undefined);
  if (report === undefined) return;
  const text = await readFile(page, "utf8");
  const [start, end] = [`<!-- ${name} -->`, `<!-- end ${name} -->`];
  // Headings of a report are one level below those of the page.
  const lowered = report.trim().replaceAll(/^## /gm, "### ");
  const before = text.slice(0, text.indexOf(start));
  const rest = text.slice(text.indexOf(end));
  await writeFile(page, `${before}${start}\n\n${lowered}\n${showCharts(chartPrefix)}\n${rest}`);
}

function showCharts(prefix: string | undefined): string {
  if (prefix === undefined) return "";
  return charts.filter((name) => name.startsWith(prefix))
    .map((name) => `\n![${name.replace(".svg", "").replaceAll("_", " ")}](${name})\n`)
    .join("");
}
