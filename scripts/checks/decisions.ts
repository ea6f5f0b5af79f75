import { readFile } from "node:fs/promises";
import { listFiles } from "../list_files.ts";

/** A page of docs/decisions: its path and its text. */
export interface Page {
  readonly path: string;
  readonly text: string;
}

const FOLDER = "docs/decisions";
const INDEX = `${FOLDER}/README.md`;
const MAX_LINES = 60;
const MAX_PAGES = 30;
const SECTIONS = ["Context", "Decision", "Consequences"];

/** Reads docs/decisions and gives what is wrong with it. */
export async function checkDecisions(): Promise<readonly string[]> {
  const paths = await listFiles([FOLDER], ".md");
  const pages = await Promise.all(
    paths.map(async (path) => ({ path, text: await readFile(path, "utf8") })),
  );
  const index = pages.find(({ path }) => path === INDEX)?.text ?? "";
  return findProblems(pages.filter(({ path }) => path !== INDEX), index);
}

/**
 * Returns what is wrong with the pages: each begins with its number and title, has the sections of the
 * template and at most 60 lines; there are at most 30, each with a number of its own; the index has all
 * of them in order, with their titles.
 */
export function findProblems(pages: readonly Page[], index: string): readonly string[] {
  const problems: string[] = [];
  if (pages.length > MAX_PAGES) {
    problems.push(`${FOLDER}: ${pages.length} pages, ${MAX_PAGES} at most: merge them by subject`);
  }
  const listed = [...index.matchAll(/^- \[(\d{4} [^\]]+)\]\(([^)]+)\)/gm)];
  for (const [place, { path, text }] of pages.entries()) {
    const name = path.slice(FOLDER.length + 1);
    const number = name.slice(0, 4);
    if (pages[place - 1]?.path.startsWith(`${FOLDER}/${number}`)) {
      problems.push(`${path}: another page has the number ${number}`);
    }
    const title = /^# (\d{4} .+)\n/.exec(text)?.[1] ?? "";
    if (!title.startsWith(`${number} `)) problems.push(`${path}: expected "# ${number} Title"`);
    const [, link, target] = listed[place] ?? [];
    if (link !== title || target !== name) {
      problems.push(`${INDEX}: expected "- [${title}](${name}): …" as item ${place + 1}`);
    }
    const lines = text.split("\n").length - 1;
    if (lines > MAX_LINES) problems.push(`${path}: ${lines} lines, ${MAX_LINES} at most`);
    const sections = [...text.matchAll(/^## (.+)$/gm)].map((match) => match[1]!);
    if (sections.join() !== SECTIONS.join()) {
      problems.push(`${path}: expected ## ${SECTIONS.join(", ## ")}`);
    }
  }
  if (listed.length > pages.length) problems.push(`${INDEX}: lists pages that do not exist`);
  return problems;
}
