/** Puts the results of dist/bench on docs/performance.md, and their pictures beside it. */
import { copyFile, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

const SOURCE = "dist/bench";
const PAGE = "docs/performance.md";
const PICTURES = "docs/performance";

const names = (await readdir(SOURCE)).filter((name) => name.endsWith(".svg")).toSorted();
await mkdir(PICTURES, { recursive: true });
for (const name of names) await copyFile(join(SOURCE, name), join(PICTURES, name));

let page = await readFile(PAGE, "utf8");
for (const [mark, prefix] of [["results", "ratios"], ["growth", "growth"], ["memory", ""]]) {
  const report = await readFile(join(SOURCE, `${mark}.md`), "utf8").catch(() => undefined);
  if (report !== undefined) page = replace(page, mark!, `${report.trim()}\n${show(prefix!)}`);
}
await writeFile(PAGE, page);

function replace(text: string, mark: string, content: string): string {
  const [start, end] = [`<!-- ${mark} -->`, `<!-- end ${mark} -->`];
  // Headings of a report stand below those of the page.
  const lowered = content.replaceAll(/^## /gm, "### ");
  const [before, rest] = [text.slice(0, text.indexOf(start)), text.slice(text.indexOf(end))];
  return `${before}${start}\n\n${lowered}\n${rest}`;
}

function show(prefix: string): string {
  if (prefix === "") return "";
  return names.filter((name) => name.startsWith(prefix))
    .map((name) => `\n![${name.replace(".svg", "").replaceAll("_", " ")}](performance/${name})\n`)
    .join("");
}
