import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { capture } from "./processes.ts";

/** A chart: its file name without the ending, and what Vega-Lite draws. */
export interface Picture {
  readonly name: string;
  readonly specification: object;
}

/** Draws charts as SVG files into a folder, with Vega-Lite on Node. */
export async function draw(pictures: readonly Picture[], folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  const file = join(folder, "pictures.json");
  await writeFile(file, JSON.stringify(pictures));
  await capture(["node", "scripts/bench/packages/draw.js", file, folder]);
}
