/**
 * Holds the tests to the rules: every rule of test/rules/*.json is named by the title of a test, or
 * says which issue it belongs to or why no test can hold it; every `[spec …]`, `[D…]` and `[AU1]` …
 * `[CF20]` in a test is a rule. `--list` prints all rules with the number of tests that name each.
 */
import { readFile } from "node:fs/promises";
import process from "node:process";
import { listFiles } from "./list_files.ts";
import { lineAt, readSource } from "./read_source.ts";

/** One rule of the specification or of DECISIONS.md, or one attack or fault of the catalogue. */
interface Rule {
  readonly rule: string;
  /** The issue that builds what the rule asks for, when it is not built yet. */
  readonly issue?: number;
  readonly reason?: string;
  /** Why no test holds it, though it is true. */
  readonly exception?: string;
}

/** The sections of the catalogue of attacks and faults, and how many each has. */
const CATALOGUE = {
  AU: 19,
  TE: 22,
  IN: 20,
  FS: 24,
  TV: 30,
  US: 24,
  UB: 16,
  CO: 19,
  RE: 32,
  DB: 30,
  HT: 25,
  CF: 22,
};
/** `[spec 4.1 r1]`, `[D3.depth]`, `[TE7]`; a section alone, `[spec 4.1]`, is a loose reference. */
const TAG =
  /\[((?:spec \d+(?:\.\d+)? |D\d+\.)[\w-]+|(?:AU|TE|IN|FS|TV|US|UB|CO|RE|DB|HT|CF)\d+)\]/g;
/** What looks like a tag and is none: a slip of the pen must not hide a rule. */
const SLIP = /\[(?:spec|D\d|(?:AU|TE|IN|FS|TV|US|UB|CO|RE|DB|HT|CF) ?\d)[^\]]*\]/g;
const LOOSE = /^\[(?:spec \d+(?:\.\d+)?|D\d+)\]$/;
const SKIPPED = /\b(?:it|describe|test)\s*\.\s*(?:skip|ignore|only|todo)\b/g;

const problems: string[] = [];
const rules = await readRules(problems);
const tests = new Map<string, string[]>([...rules.keys()].map((id) => [id, []]));
for (const file of await listFiles(["test"], ".test.ts")) await readTags(file);

for (const [section, count] of Object.entries(CATALOGUE)) {
  for (let number = 1; number <= count; number++) {
    if (!rules.has(`${section}${number}`)) problems.push(`${section}${number}: is no rule`);
  }
}
for (const [id, { issue, reason, exception, rule }] of rules) {
  const named = tests.get(id)!.length;
  if (issue !== undefined && !reason) problems.push(`${id}: belongs to issue ${issue}, but why?`);
  if (exception !== undefined && named > 0) problems.push(`${id}: an exception that has a test`);
  if (named === 0 && issue === undefined && !exception) {
    problems.push(`${id}: no test names it: ${rule}`);
  }
}
if (process.argv.includes("--list")) {
  for (const [id, { issue, exception, rule }] of rules) {
    const count = exception ? "none" : issue ? `issue ${issue}` : tests.get(id)!.length;
    const why = exception === undefined ? "" : ` No test: ${exception}`;
    console.log(`${String(count).padStart(7)}  ${id.padEnd(30)} ${rule}${why}`);
  }
}
for (const problem of problems) console.error(problem);
const others = [...rules.values()].filter(({ issue }) => issue !== undefined).length;
const excepted = [...rules.values()].filter(({ exception }) => exception !== undefined).length;
const proved = [...tests.values()].filter((files) => files.length > 0).length;
console.log(
  `${rules.size} rules: ${proved} have tests, ${others} belong to other issues, ${excepted} are ` +
    `exceptions, ${problems.length} problems`,
);
process.exit(problems.length === 0 ? 0 : 1);

async function readRules(found: string[]): Promise<Map<string, Rule>> {
  const all = new Map<string, Rule>();
  for (const file of await listFiles(["test/rules"], ".json")) {
    const text = await readFile(file, "utf8");
    const ids = [...text.matchAll(/^ {2}("[^"]+"):/gm)].map((match) => JSON.parse(match[1]!));
    const entries = Object.entries(JSON.parse(text) as Record<string, string | Rule>);
    if (ids.length !== entries.length) found.push(`${file}: an id is there twice`);
    for (const [id, rule] of entries) {
      if (all.has(id)) found.push(`${file}: ${id} is in another file too`);
      if (`[${id}]`.replace(TAG, "") !== "") found.push(`${file}: ${id} is no id`);
      all.set(id, typeof rule === "string" ? { rule } : rule);
    }
  }
  return all;
}

/** Tags count in strings alone: a comment proves nothing, and neither does a test that never runs. */
async function readTags(file: string): Promise<void> {
  const text = await readFile(file, "utf8");
  const { code, strings } = readSource(text);
  for (const match of code.matchAll(SKIPPED)) {
    problems.push(`${file}:${lineAt(text, match.index)}: ${match[0]} leaves tests out`);
  }
  for (const { text: title, start } of strings) {
    for (const [tag] of title.matchAll(SLIP)) {
      if (LOOSE.test(tag)) continue;
      const id = tag.slice(1, -1);
      const named = tests.get(id);
      if (named === undefined) problems.push(`${file}:${lineAt(text, start)}: ${tag} is no rule`);
      else named.push(file);
    }
  }
}
