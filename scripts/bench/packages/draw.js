/** Draws the charts of a JSON file as SVG into a folder: `node draw.js pictures.json folder`. */
import { readFile, writeFile } from "node:fs/promises";
import process from "node:process";

// Named by variables, so that checking the types of this repository does not need these packages.
const [VEGA, VEGA_LITE] = ["vega", "vega-lite"];
const { parse, View } = await import(VEGA);
const { compile } = await import(VEGA_LITE);

const [file, folder] = process.argv.slice(2);
for (const { name, specification } of JSON.parse(await readFile(file, "utf8"))) {
  const { spec } = compile(specification);
  const view = new View(parse(spec), { renderer: "none" });
  await writeFile(`${folder}/${name}.svg`, await view.toSVG());
  view.finalize();
}
