import { execFile } from "node:child_process";
import { access, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { lineAt } from "./source.ts";

/** A file of the repository in backticks, such as `src/main.ts`. */
const PATH = /`((?:src|test|scripts|docs|examples)\/[\w./-]+)`/g;
const LINK = /\]\(<?([^)>\s]+)>?(?:\s+"[^"]*")?\)/g;
const MAX_TABLE_WIDTH = 100;
/** It names files of earlier versions. */
const HISTORY = "CHANGELOG.md";

/** Lists the Markdown files of the repository. */
export async function listPages(): Promise<readonly string[]> {
  const { stdout } = await promisify(execFile)("git", [
    ...["ls-files", "--cached", "--others", "--exclude-standard", "*.md"],
  ]);
  return stdout.split("\n").filter((path) => path !== "");
}

/** Returns each link of a page, and each path in backticks, that leads to no file or heading. */
export async function findBrokenLinks(page: string): Promise<readonly string[]> {
  const text = await readFile(page, "utf8").catch(() => "");
  const problems: string[] = [];
  for (const match of blankCode(text, /^(```|~~~)[\s\S]*?^\1|`[^`\n]*`/gm).matchAll(LINK)) {
    const [path = "", anchor] = match[1]!.split("#");
    if (/^[a-z]+:/.test(path)) continue;
    const where = `${page}:${lineAt(text, match.index)}: ${match[1]}`;
    const target = path === "" ? page : join(dirname(page), path);
    if (!await exists(target)) problems.push(`${where} leads nowhere`);
    else if (anchor !== undefined && target.endsWith(".md")) {
      if (!anchorsOf(await readFile(target, "utf8")).has(anchor)) {
        problems.push(`${where} leads to no heading`);
      }
    }
  }
  if (page === HISTORY) return problems;
  for (const match of blankCode(text, /^(```|~~~)[\s\S]*?^\1/gm).matchAll(PATH)) {
    if (await exists(match[1]!)) continue;
    problems.push(`${page}:${lineAt(text, match.index)}: there is no ${match[1]}`);
  }
  return problems;
}

/** Returns each table of a page that is too wide to read in a terminal. */
export async function findWideTables(page: string): Promise<readonly string[]> {
  const lines = (await readFile(page, "utf8").catch(() => "")).split("\n");
  return lines.flatMap((line, index) => {
    const isFirst = line.startsWith("|") && !lines[index - 1]?.startsWith("|");
    const { length } = [...line];
    if (!isFirst || length <= MAX_TABLE_WIDTH) return [];
    return [`${page}:${index + 1}: a table of ${length} characters, ${MAX_TABLE_WIDTH} at most`];
  });
}

/** The names that GitHub gives to the headings of a page. */
export function anchorsOf(markdown: string): Set<string> {
  const headings = [...markdown.matchAll(/^#{1,6} +(.+?) *$/gm)].map((match) => match[1]!);
  return new Set(
    headings.map((heading) =>
      heading.toLowerCase().replaceAll(/[^\p{L}\p{N}\s_-]/gu, "").replaceAll(" ", "-")
    ),
  );
}

function blankCode(text: string, code: RegExp): string {
  return text.replaceAll(code, (found) => found.replaceAll(/[^\n]/g, " "));
}

function exists(path: string): Promise<boolean> {
  return access(path).then(() => true, () => false);
}
