import { readFile } from "node:fs/promises";
import { listFiles } from "../list_files.ts";
import { lineAt } from "./source.ts";

/** One entry of docs/specification: a rule, or a fact that code gives as its reason. */
export interface Rule {
  readonly text: string;
  /** Its page. */
  readonly page: string;
  /** A fact is a reason, not a promise: it needs no test. */
  readonly fact: boolean;
  /** Why it needs no test: the italics at its end, up to the colon. */
  readonly excuse: string | undefined;
}

/** Every entry by its id, and the problems of the pages. */
export interface Rules {
  readonly rules: ReadonlyMap<string, Rule>;
  readonly problems: readonly string[];
}

const SPECIFICATION = "docs/specification";
/** `- **Q12** Depth 5 is accepted …`, and the lines that continue it. */
const ENTRY = /^- \*\*([A-Z]{1,2}\d+)\*\* (.+(?:\n {2}\S.*)*)/gm;
/** What looks like an entry: one in another form must not be overlooked. */
const LIKE_AN_ENTRY = /^\s*(?:[-*+] +)?(?:\*\*|__)[A-Z]{1,2} ?\d+.*$/gm;
const EXCUSE = / _(Issue \d+|No test|Withdrawn):\s[^_]+_$/;

/** Reads every rule and fact of docs/specification. */
export async function readRules(): Promise<Rules> {
  const pages = await listFiles([SPECIFICATION], ".md");
  return collectRules(
    await Promise.all(pages.map(async (path) => ({ path, text: await readFile(path, "utf8") }))),
  );
}

/**
 * Collects the entries of pages. An id occurs once, its letters belong to one page, and its numbers run
 * from 1 without a gap, so that no id is ever given a second time.
 */
export function collectRules(
  pages: readonly { readonly path: string; readonly text: string }[],
): Rules {
  const rules = new Map<string, Rule>();
  const problems: string[] = [];
  for (const { path, text } of pages) {
    const fact = path.slice(path.lastIndexOf("/") + 1).startsWith("facts-");
    const starts = new Set<number>();
    for (const match of text.matchAll(ENTRY)) {
      const [, id = "", item = ""] = match;
      starts.add(match.index);
      if (rules.has(id)) problems.push(`${path}:${lineAt(text, match.index)}: ${id} occurs twice`);
      const line = item.replaceAll(/\n +/g, " ");
      rules.set(id, { text: line, page: path, fact, excuse: EXCUSE.exec(line)?.[1] });
    }
    for (const { index, 0: line } of text.matchAll(LIKE_AN_ENTRY)) {
      const at = index + line.length - line.trimStart().length;
      if (starts.has(at)) continue;
      problems.push(`${path}:${lineAt(text, at)}: expected an entry such as "- **Q12** …"`);
    }
  }
  return { rules, problems: [...problems, ...findGaps(rules)] };
}

function findGaps(rules: ReadonlyMap<string, Rule>): readonly string[] {
  const problems: string[] = [];
  const series = new Map<string, { readonly page: string; readonly numbers: Set<number> }>();
  for (const [id, { page }] of rules) {
    const [letters = ""] = /^[A-Z]+/.exec(id) ?? [];
    const known = series.get(letters) ?? { page, numbers: new Set() };
    series.set(letters, known);
    known.numbers.add(Number(id.slice(letters.length)));
    if (known.page !== page) {
      problems.push(`${page}: ${id}, but ${letters} belongs to ${known.page}`);
    }
  }
  for (const [letters, { page, numbers }] of series) {
    for (let number = 1; number <= numbers.size; number++) {
      if (!numbers.has(number)) problems.push(`${page}: ${letters}${number} is missing`);
    }
  }
  return problems;
}
