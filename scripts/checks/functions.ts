import { readFile } from "node:fs/promises";
import { LONG_FUNCTIONS, STATEMENTS } from "./long_functions.ts";

const MAX_FUNCTION_LINES = 60;
/** The beginning of a function, an arrow function or a method with a body, as `deno fmt` prints it. */
const BEGINNING =
  /^( *)(?:(?:export )?(?:async )?function\*? (\w+)|(?:export )?const (\w+) = .*=> \{$|(?!.*=> \{$)(?:async |static )*(#?\w+)\(.*\{$)/;
/** What `BEGINNING` would take for the name of a method. */
const KEYWORDS: ReadonlySet<string> = new Set(["if", "for", "while", "switch", "catch", "return"]);

/** A function, and how many lines it has. */
interface FoundFunction {
  readonly name: string;
  readonly line: number;
  readonly lines: number;
}

/**
 * Finds functions of more than 60 lines. SQL is the exception: in `src/records/sql` and
 * `src/database/schema` a function may be one statement.
 */
export async function findLongFunctions(files: readonly string[]): Promise<string[]> {
  const problems: string[] = [];
  const known = new Set([...LONG_FUNCTIONS, ...STATEMENTS]);
  for (const file of files) {
    if (/^src\/(records\/sql|database\/schema)\//.test(file)) continue;
    for (const { name, line, lines } of listFunctions(await readFile(file, "utf8"))) {
      if (lines <= MAX_FUNCTION_LINES || known.delete(`${file} ${name}`)) continue;
      problems.push(`${file}:${line}: ${name} has ${lines} lines, ${MAX_FUNCTION_LINES} at most`);
    }
  }
  for (const entry of known) {
    problems.push(`scripts/checks/long_functions.ts: ${entry} is no longer long, remove it`);
  }
  return problems;
}

/** Lists the functions of a formatted file that have a body of several lines. */
export function listFunctions(text: string): FoundFunction[] {
  const lines = text.split("\n");
  return lines.flatMap((line, start) => {
    const [, indent = "", ...names] = BEGINNING.exec(line) ?? [];
    const name = names.find((each) => each !== undefined);
    if (name === undefined || KEYWORDS.has(name)) return [];
    const end = lines.findIndex((each, at) => at > start && isEnd(each, indent));
    return end < 0 ? [] : [{ name, line: start + 1, lines: end - start + 1 }];
  });
}

function isEnd(line: string, indent: string): boolean {
  return line.startsWith(`${indent}}`) && /^[),;]*$/.test(line.slice(indent.length + 1));
}
