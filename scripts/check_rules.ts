/**
 * Compares the tests with docs/specification: a test title names every rule, `[Q12]`, or the rule says at
 * its end why not; every such tag in a test is a rule, a fact or a decision (`[0130]`). `--list` prints
 * all rules with the number of their tests.
 */
import process from "node:process";
import { readFile } from "node:fs/promises";
import { listFiles } from "./list_files.ts";
import { lineAt, readSource } from "./checks/source.ts";
import { readRules } from "./checks/rules.ts";

/** A tag, or what looks like one: a typing error must not hide a rule. */
const TAG = /\[(?:[A-Za-z]+[ .]?\d[^\]]*|0\d{3})\]/g;
const SKIPPED = /\b(?:it|describe|test)\s*\.\s*(?:skip|ignore|only|todo)\b/g;

const { rules, problems: found } = await readRules();
const problems = [...found];
const decisions = (await listFiles(["docs/decisions"], ".md")).join();
const tests = new Map<string, number>([...rules.keys()].map((id) => [id, 0]));
for (const file of await listFiles(["test"], ".test.ts")) await readTags(file);

let tested = 0;
let excused = 0;
for (const [id, { text, fact, excuse }] of rules) {
  const named = tests.get(id)!;
  if (fact) continue;
  if (named > 0) tested++;
  if (excuse !== undefined) excused++;
  else if (named === 0) problems.push(`${id}: no test has its id: ${text}`);
  if (named > 0 && (excuse === "No test" || excuse === "Withdrawn")) {
    problems.push(`${id}: says "${excuse}", but a test has its id`);
  }
}
if (process.argv.includes("--list")) {
  for (const [id, { text, fact, excuse }] of rules) {
    const named = tests.get(id) || (fact ? "fact" : excuse ?? "none");
    console.log(`${String(named).padStart(9)}  ${id.padEnd(5)} ${text}`);
  }
}
for (const problem of problems) console.error(problem);
const facts = [...rules.values()].filter(({ fact }) => fact).length;
console.log(
  `${rules.size - facts} rules: ${tested} have tests, ${excused} need none; ${facts} facts; ` +
    `${problems.length} problems`,
);
process.exit(problems.length === 0 ? 0 : 1);

/** Tags count only in strings: a comment proves nothing, and a skipped test neither. */
async function readTags(file: string): Promise<void> {
  const text = await readFile(file, "utf8");
  const { code, strings } = readSource(text);
  for (const match of code.matchAll(SKIPPED)) {
    problems.push(`${file}:${lineAt(text, match.index)}: ${match[0]} skips tests`);
  }
  for (const { text: title, start } of strings) {
    for (const [tag] of title.matchAll(TAG)) {
      const id = tag.slice(1, -1);
      const named = tests.get(id);
      if (named !== undefined) tests.set(id, named + 1);
      else if (!decisions.includes(`/${id}-`)) {
        problems.push(`${file}:${lineAt(text, start)}: ${tag} is no rule`);
      }
    }
  }
}
