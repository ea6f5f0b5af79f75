import { assertEquals } from "@std/assert";
import { readFile, writeFile } from "node:fs/promises";
import process from "node:process";
import { collapseSpace } from "../../src/database/postgres/statements.ts";

/**
 * Compares a statement with its golden file, which is laid out for its readers; with
 * `ROWGATE_WRITE_GOLDEN=1` the file is written again; read it before you commit it.
 */
export async function compareGolden(title: string, statement: string): Promise<void> {
  const file = new URL(`./golden/${title.replaceAll(/[ ,]+/g, "_")}.sql`, import.meta.url);
  if (process.env.ROWGATE_WRITE_GOLDEN === "1") await writeFile(file, layOut(statement));
  const golden = await readFile(file, "utf8");
  assertEquals(statement, collapseSpace(golden.trimEnd()));
}

/** Quoted names and strings, parentheses, words, and whatever else is one character. */
const TOKEN = /"[^"]*"|'[^']*'|\w+|./g;
/** What a subquery begins with; other parentheses stay on their line. */
const BLOCKS = /^(?:select|update|insert|delete|with)\b|^request_id\b/;
/** A list of columns goes on in a new line after so many characters. */
const MAX_COLUMNS_CHARACTERS = 60;
/** Words that begin a line of their own where they are not in parentheses. */
const CLAUSES =
  /^(?:select|from|where|set|and|limit|order|group|returning|cross|insert|delete|using|else)$/;

/** Breaks a statement into lines, and indents its subqueries; nothing but white space is added. */
function layOut(statement: string): string {
  const lines = [""];
  /** For each open parenthesis, whether it holds a subquery. */
  const open: boolean[] = [];
  let isBetween = false;
  const breakLine = () => {
    const depth = open.filter((isBlock) => isBlock).length;
    lines.push("  ".repeat(depth));
  };
  for (const { 0: token, index } of statement.matchAll(TOKEN)) {
    const isInline = open.at(-1) === false;
    const rest = statement.slice(index + 1);
    if (token === "(") {
      lines[lines.length - 1] += token;
      open.push(BLOCKS.test(rest));
      if (open.at(-1)) breakLine();
      continue;
    }
    if (token === ")" && open.pop()) breakLine();
    const isClause = !isInline && CLAUSES.test(token) && !(token === "and" && isBetween);
    if (isClause && lines.at(-1)!.trim() !== "") {
      breakLine();
      if (token === "and") lines[lines.length - 1] += "  ";
    }
    if (token === "between") isBetween = true;
    else if (token === "and") isBetween = false;
    if (token === " " && lines.at(-1)!.trim() === "") continue;
    lines[lines.length - 1] += token;
    const isLong = lines.at(-1)!.length > MAX_COLUMNS_CHARACTERS;
    if (token !== "," || isInline || open.length > 0 && !isLong) continue;
    breakLine();
    if (open.length > 0) lines[lines.length - 1] += "  ";
  }
  return `${lines.map((line) => line.trimEnd()).join("\n")}\n`;
}
