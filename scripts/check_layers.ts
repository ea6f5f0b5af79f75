/**
 * Holds src/ to ARCHITECTURE.md: its import table (which room may use which, no circles) and its table of what stands in one place alone.
 */
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import process from "node:process";
import { promisify } from "node:util";
import { listFiles } from "./list_files.ts";
import { lineAt, readSource } from "./read_source.ts";
import { readTable } from "./read_table.ts";

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

const problems: string[] = [];
const architecture = await readFile("ARCHITECTURE.md", "utf8");
const files = (await Promise.all([".ts", ".tsx"].map((ending) => listFiles(["src"], ending))))
  .flat();
const edges = await readEdges(files);
checkTable(edges);
checkCircles(edges);
await checkPlaces(edges);
for (const problem of problems) console.error(problem);
console.log(`${files.length} files, ${edges.length} imports, ${problems.length} problems`);
process.exit(problems.length === 0 ? 0 : 1);

/** Asks Deno for the graph of all files, also of those that nothing imports. */
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

/** `src/plan/value.ts` of a file, `valibot` of a package, `node:*` of a module of Node. */
function nameOf(specifier: string, src: string): string {
  if (specifier.startsWith(src)) return `src/${specifier.slice(src.length)}`;
  if (specifier.startsWith("node:")) return "node:*";
  return /^npm:\/?((?:@[^/]+\/)?[^/@]+)/.exec(specifier)?.[1] ?? specifier;
}

/** The part of the house a file lies in: its folder, or itself when it lies at the top. */
function partOf(name: string): string {
  return /^src\/([^/]+?)(?:\.tsx?)?(?:\/|$)/.exec(name)?.[1] ?? name;
}

/**
 * Each import must be in the table, and a room only from a row above, types included: so no room
 * stands in a circle.
 */
function checkTable(all: readonly Edge[]): void {
  const allowed = new Map<string, ReadonlySet<string>>();
  const used = new Set<string>();
  for (const [parts = [], rooms = [], packages = []] of readTable(architecture, "imports")) {
    for (const part of parts) {
      const late = rooms.filter((other) => !allowed.has(other));
      for (const other of late) problems.push(`ARCHITECTURE.md: ${part} uses ${other} from below`);
    }
    const names = new Set([...rooms, ...packages.map((name) => `npm:${name}`)]);
    for (const part of parts) allowed.set(part, names);
  }
  for (const { from, to } of all) {
    const part = partOf(from);
    const other = to.startsWith("src/") ? partOf(to) : `npm:${to}`;
    if (part === other) continue;
    used.add(`${part} ${other}`);
    if (!allowed.has(part)) problems.push(`${from}: ARCHITECTURE.md does not know ${part}`);
    else if (!allowed.get(part)!.has(other)) problems.push(`${from}: ${part} may not use ${other}`);
  }
  for (const [part, others] of allowed) {
    for (const other of others) {
      if (!used.has(`${part} ${other}`)) {
        problems.push(`ARCHITECTURE.md: ${part} does not use ${other} at all`);
      }
    }
  }
}

/** No circle of values between files either. */
function checkCircles(all: readonly Edge[]): void {
  const next = Map.groupBy(all.filter(({ kind }) => kind === "value"), ({ from }) => from);
  const done = new Set<string>();
  const walk = (file: string, trail: readonly string[]): void => {
    if (trail.includes(file)) {
      problems.push(`a circle: ${[...trail.slice(trail.indexOf(file)), file].join(" > ")}`);
    } else if (!done.has(file)) {
      for (const { to } of next.get(file) ?? []) walk(to, [...trail, file]);
      done.add(file);
    }
  };
  for (const file of files) walk(file, []);
}

/** What stands in one place alone: packages by their value imports, the rest by the code's text. */
async function checkPlaces(all: readonly Edge[]): Promise<void> {
  for (const [terms = [], places = []] of readTable(architecture, "places")) {
    const inPlace = (file: string) => places.some((place) => file.startsWith(place));
    for (const { from, to } of all) {
      if (!terms.includes(to) || inPlace(from)) continue;
      problems.push(`${from}: imports ${to}, which belongs in ${places.join(", ")}`);
    }
    const words = terms.filter((term) => !all.some(({ to }) => to === term));
    for (const file of files.filter((file) => words.length > 0 && !inPlace(file))) {
      const text = await readFile(file, "utf8");
      const { code } = readSource(text);
      for (const { 0: word, index } of words.flatMap((word) => [...code.matchAll(search(word))])) {
        const line = lineAt(text, index);
        problems.push(`${file}:${line}: ${word} belongs in ${places.join(", ")}`);
      }
    }
  }
}

/** A word stands alone and is no member of something else; `.unsafe(` is found as it is. */
function search(term: string): RegExp {
  const text = term.split(" ").map(RegExp.escape).join("\\s+");
  return new RegExp(/^\w/.test(term) ? `(?<![\\w$.])${text}(?![\\w$]|\\s*:)` : text, "g");
}
