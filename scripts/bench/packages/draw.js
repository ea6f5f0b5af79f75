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
  await writeFile(`${folder}/${name}.svg`, `${slim(await view.toSVG())}\n`);
  view.finalize();
}

/** Leaves out what no viewer of an image sees, which is half of the file. */
function slim(svg) {
  return svg
    .replaceAll(/ (?:opacity="1"|pointer-events="none"|role="[^"]*"|aria-[a-z]+="[^"]*")/g, "")
    .replaceAll(/\d+\.\d{2,}/g, (number) => String(Math.round(Number(number) * 10) / 10));
}
