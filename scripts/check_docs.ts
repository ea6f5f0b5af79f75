/**
 * Checks the rules of CONTRIBUTING.md that a program can check: a docstring on every export, no file
 * over 300 lines, no function over 60, no two exports of one name, no name that says nothing, at most
 * three parameters, no default export; links, paths and `@see` that lead to a file, a heading or a rule; the template of
 * docs/decisions; the endpoints of the README; no test that is timed.
 */
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import process from "node:process";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { anchorsOf, findBrokenLinks, findWideTables, listPages } from "./checks/pages.ts";
import { findFalseCitations } from "./checks/citations.ts";
import { checkDecisions } from "./checks/decisions.ts";
import { checkEndpoints } from "./checks/endpoints.ts";
import { findLongFunctions } from "./checks/functions.ts";
import { listFiles } from "./list_files.ts";
import { lineAt, readSource } from "./checks/source.ts";
import { readRules } from "./checks/rules.ts";
import { findTimedTests, TIMED } from "./checks/timed_tests.ts";

/** What `deno doc --json` says about one export. */
interface Declaration {
  readonly kind: string;
  readonly location: { readonly filename: string; readonly line: number };
  readonly declarationKind: "export" | "private" | "declare";
  readonly jsDoc?: { readonly doc?: string };
  readonly def?: { readonly params?: readonly unknown[] };
}

interface Documentation {
  readonly nodes: Readonly<
    Record<
      string,
      { readonly symbols?: readonly { name: string; declarations: readonly Declaration[] }[] }
    >
  >;
}

const MAX_LINES = 300;
const MAX_PARAMETERS = 3;
/** Kinds of exports that a search by name must find once. */
const VALUES: ReadonlySet<string> = new Set(["function", "class", "variable"]);
const FORBIDDEN_NAMES = /^(index|utils?|helpers?|common|types?)\.[jt]sx?$/;
const FOLDERS = ["src", "scripts", "test"];

const problems: string[] = [];
const files =
  (await Promise.all([".ts", ".tsx", ".js"].map((ending) => listFiles(FOLDERS, ending))))
    .flat();
for (const file of files) await checkFile(file);
const sources = files.filter((file) => file.startsWith("src/"));
await checkExports(sources);
problems.push(...await findLongFunctions(sources));
const pages = await listPages();
for (const page of pages) {
  problems.push(...await findBrokenLinks(page), ...await findWideTables(page));
}
problems.push(...await checkDecisions(), ...await checkEndpoints());
const { rules: ids } = await readRules();
for (const file of files) problems.push(...await findFalseCitations(file, { ids, anchorsOf }));
for (const file of files) problems.push(...await findTimedTests(file));
for (const file of Object.keys(TIMED)) {
  if (!files.includes(file)) problems.push(`scripts/checks/timed_tests.ts: there is no ${file}`);
}
for (const problem of problems) console.error(problem);
console.log(`${files.length} files, ${pages.length} pages, ${problems.length} problems`);
process.exit(problems.length === 0 ? 0 : 1);

async function checkFile(file: string): Promise<void> {
  const name = file.slice(file.lastIndexOf("/") + 1);
  const stem = name.replace(/(\.test)?\.[jt]sx?$/, "");
  if (FORBIDDEN_NAMES.test(name)) problems.push(`${file}: a name that says nothing`);
  if (!/^[a-z0-9_]+$/.test(stem)) problems.push(`${file}: is not snake_case`);
  const text = await readFile(file, "utf8");
  const lines = text.split("\n").length - 1;
  // A test file is a list of cases: it may be long where the list is.
  const list = name.endsWith(".test.ts");
  if (!list && lines > MAX_LINES) problems.push(`${file}: ${lines} lines, ${MAX_LINES} at most`);
  if (!file.startsWith("src/")) return;
  const { code } = readSource(text);
  for (const match of code.matchAll(/^export default\b/gm)) {
    problems.push(`${file}:${lineAt(text, match.index)}: ${match[0]}, expected a named function`);
  }
}

/** The exports, and the parameters of all functions at the top of a file. */
async function checkExports(paths: readonly string[]): Promise<void> {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ["doc", "--json", "--private", ...paths],
    { maxBuffer: 1 << 28 },
  );
  const root = pathToFileURL(`${process.cwd()}/`).href;
  const documentation = JSON.parse(stdout) as Documentation;
  const places = new Map<string, string>();
  for (const [file, { symbols = [] }] of Object.entries(documentation.nodes)) {
    for (const { name, declarations } of symbols) {
      const documented = declarations.some(({ jsDoc }) => jsDoc?.doc);
      for (const { kind, location, declarationKind, def } of declarations) {
        if (location.filename !== file || kind === "reference") continue;
        const where = `${file.replace(root, "")}:${location.line + 1}: ${name}`;
        if (declarationKind === "export" && !documented) problems.push(`${where} has no docstring`);
        if (declarationKind === "export" && VALUES.has(kind)) {
          const other = places.get(name);
          if (other !== undefined && other !== file) {
            problems.push(`${where} is also exported by ${other.replace(root, "")}`);
          }
          places.set(name, file);
        }
        const parameters = kind === "function" ? def?.params?.length ?? 0 : 0;
        if (parameters > MAX_PARAMETERS) problems.push(`${where} has ${parameters} parameters`);
      }
    }
  }
}
