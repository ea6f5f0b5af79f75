/**
 * Holds src/ to the table of ARCHITECTURE.md and those of docs/layers.md: a module imports only modules
 * listed before it, some import only a few of those, and packages and some words are used in few places
 * only. The npm package must not reach Deno's own types.
 */
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import process from "node:process";
import { promisify } from "node:util";
import { listFiles } from "./list_files.ts";
import { lineAt, readSource } from "./checks/source.ts";

/** One import of a file: another file of src, or a package. */
interface Edge {
  readonly from: string;
  readonly to: string;
  readonly kind: "value" | "type";
}

interface Graph {
  readonly modules: readonly {
    readonly specifier: string;
    readonly dependencies?: readonly {
      readonly code?: { readonly specifier?: string };
      readonly type?: { readonly specifier?: string };
    }[];
  }[];
}

const ARCHITECTURE = "ARCHITECTURE.md";
const LAYERS = "docs/layers.md";
const PACKAGE_ENTRY = "src/mod.ts";
const MAX_TOP = 18;
const DENO_ADAPTER = "src/server/runtime/deno.ts";

const problems: string[] = [];
const architecture = await readFile(ARCHITECTURE, "utf8");
const layers = await readFile(LAYERS, "utf8");
const files = (await Promise.all([".ts", ".tsx"].map((ending) => listFiles(["src"], ending))))
  .flat();
const order = readTable(architecture, "modules").flatMap(([names = []]) => names);
const edges = await readEdges(files);
checkTop();
checkModules(edges);
checkCycles(edges);
await checkPlaces(edges);
checkPackage(edges);
for (const problem of problems) console.error(problem);
console.log(`${files.length} files, ${edges.length} imports, ${problems.length} problems`);
process.exit(problems.length === 0 ? 0 : 1);

/** Reads the import graph of all files from Deno, including files that nothing imports. */
async function readEdges(paths: readonly string[]): Promise<Edge[]> {
  const src = new URL("../src/", import.meta.url).href;
  const found = new Map<string, Edge>();
  const seen = new Set<string>();
  for (const path of ["src/main.ts", ...paths]) {
    if (seen.has(path)) continue;
    const { stdout } = await promisify(execFile)(process.execPath, ["info", "--json", path], {
      maxBuffer: 1 << 26,
    });
    for (const { specifier, dependencies = [] } of (JSON.parse(stdout) as Graph).modules) {
      const from = nameOf(specifier, src);
      if (!from.startsWith("src/") || seen.has(from)) continue;
      seen.add(from);
      for (const { code, type } of dependencies) {
        for (const [kind, target] of [["value", code], ["type", type]] as const) {
          if (target?.specifier === undefined) continue;
          const to = nameOf(target.specifier, src);
          found.set(`${from} ${to} ${kind}`, { from, to, kind });
        }
      }
    }
  }
  return [...found.values()];
}

/** `src/records/plan/value.ts` of a file, `valibot` of a package, `node:*` of a module of Node. */
function nameOf(specifier: string, src: string): string {
  if (specifier.startsWith(src)) return `src/${specifier.slice(src.length)}`;
  if (specifier.startsWith("node:")) return "node:*";
  return /^npm:\/?((?:@[^/]+\/)?[^/@]+)/.exec(specifier)?.[1] ?? specifier;
}

/** The module of a file: the innermost that is listed, or its folder at the top of src/. */
function moduleOf(name: string): string {
  const path = name.replace(/^src\/|\.tsx?$/g, "");
  const holders = order.filter((module) => path === module || path.startsWith(`${module}/`));
  return holders.toSorted((one, other) => other.length - one.length)[0] ?? path.split("/")[0]!;
}

/** Refuses more names at the top of src/ than a reader can remember. */
function checkTop(): void {
  const top = new Set(files.map((file) => file.split("/")[1]));
  if (top.size > MAX_TOP) {
    problems.push(`src/ has ${top.size} names at its top, expected at most ${MAX_TOP}`);
  }
}

/** Each module must be in the list, and may import only modules before it, or fewer; types included. */
function checkModules(all: readonly Edge[]): void {
  const only = new Map<string, readonly string[]>();
  for (const [[module = ""] = [], used = []] of readTable(layers, "only")) {
    only.set(module, [...(only.get(module) ?? []), ...used]);
  }
  const unused = new Set(
    [...only].flatMap(([module, used]) => used.map((one) => `${module} ${one}`)),
  );
  for (const { from, to } of all) {
    if (!to.startsWith("src/")) continue;
    const [module, used] = [moduleOf(from), moduleOf(to)];
    if (module === used) continue;
    unused.delete(`${module} ${used}`);
    const missing = [module, used].find((name) => !order.includes(name));
    if (missing !== undefined) {
      problems.push(`${from}: ${ARCHITECTURE} does not list ${missing}`);
    } else if (order.indexOf(used) > order.indexOf(module)) {
      problems.push(`${from}: ${module} imports ${used}, which comes after it in ${ARCHITECTURE}`);
    } else if (only.has(module) && !only.get(module)!.includes(used)) {
      problems.push(`${from}: ${module} may not import ${used}`);
    }
  }
  for (const pair of unused) {
    problems.push(`${LAYERS}: ${pair.replace(" ", " does not import ")} at all`);
  }
}

/** Files do not import in cycles either, types included. */
function checkCycles(all: readonly Edge[]): void {
  const next = Map.groupBy(all, ({ from }) => from);
  const done = new Set<string>();
  const walk = (file: string, trail: readonly string[]): void => {
    if (trail.includes(file)) {
      problems.push(`a cycle: ${[...trail.slice(trail.indexOf(file)), file].join(" > ")}`);
    } else if (!done.has(file)) {
      for (const { to } of next.get(file) ?? []) walk(to, [...trail, file]);
      done.add(file);
    }
  };
  for (const file of files) walk(file, []);
}

/**
 * The npm package must not reach the file with Deno's own types: tsc, which writes its declarations,
 * does not know them.
 */
function checkPackage(all: readonly Edge[]): void {
  const next = Map.groupBy(all, ({ from }) => from);
  const trails: string[][] = [[PACKAGE_ENTRY]];
  const seen = new Set<string>(trails[0]);
  for (const trail of trails) {
    const file = trail.at(-1)!;
    if (file === DENO_ADAPTER) problems.push(`the npm package reaches ${trail.join(" > ")}`);
    for (const { to } of next.get(file) ?? []) {
      if (!seen.has(to)) trails.push([...trail, to]);
      seen.add(to);
    }
  }
}

/** Packages and words of the code that are used in few places, or in none. Every package must be listed. */
async function checkPlaces(all: readonly Edge[]): Promise<void> {
  const placesOf = new Map<string, string[]>();
  for (const [terms = [], places = []] of readTable(layers, "places")) {
    for (const term of terms) {
      const known = placesOf.get(term) ?? [];
      placesOf.set(term, [...known, ...places.map((place) => `src/${place}`)]);
    }
  }
  const packages = new Set<string>();
  for (const { from, to } of all.filter(({ to }) => !to.startsWith("src/"))) {
    packages.add(to);
    const places = placesOf.get(to);
    if (places === undefined) problems.push(`${from}: ${LAYERS} does not list ${to}`);
    else if (!places.some((place) => from.startsWith(place))) {
      problems.push(`${from}: imports ${to}, which belongs in ${places.join(", ")}`);
    }
  }
  const words = [...placesOf].filter(([term]) => !packages.has(term));
  for (const file of files) {
    const text = await readFile(file, "utf8");
    const { code } = readSource(text);
    for (const [word, places] of words) {
      if (places.some((place) => file.startsWith(place))) continue;
      for (const { index } of code.matchAll(search(word))) {
        problems.push(
          `${file}:${lineAt(text, index)}: ${word} belongs in ${places.join(", ") || "no file"}`,
        );
      }
    }
  }
}

/** A whole word that is no member of something else; `.unsafe(` as it is. */
function search(term: string): RegExp {
  const text = term.split(" ").map(RegExp.escape).join("\\s+");
  return new RegExp(/^\w/.test(term) ? `(?<![\\w$.])${text}(?![\\w$]|\\s*:)` : text, "g");
}

/**
 * Reads a Markdown table by the comment above it, `<!-- name -->`: for each row below the head, for
 * each cell, the texts in backticks.
 */
function readTable(markdown: string, name: string): string[][][] {
  const lines = markdown.split("\n");
  const mark = lines.findIndex((line) => line.trim() === `<!-- ${name} -->`);
  if (mark < 0) throw new Error(`There is no table <!-- ${name} -->`);
  const start = lines.findIndex((line, index) => index > mark && line.startsWith("|"));
  const end = lines.findIndex((line, index) => index > start && !line.startsWith("|"));
  return lines.slice(start + 2, end < 0 ? undefined : end).map((line) =>
    line.split("|").slice(1, -1).map((cell) =>
      [...cell.matchAll(/`([^`]+)`/g)].map((match) => match[1]!)
    )
  );
}
