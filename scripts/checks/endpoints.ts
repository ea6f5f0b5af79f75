import { readFile } from "node:fs/promises";
import { listScopes } from "../../src/operations/operation.ts";
import { OPERATIONS } from "../../src/operations/operations.ts";

const MARKED = /<!-- operations -->\s*([^]*?)\s*<!-- end operations -->/;

/** Finds what is wrong with the table of endpoints in the README. It must list the operations of `src/`. */
export async function checkEndpoints(): Promise<string[]> {
  const [, table = ""] = MARKED.exec(await readFile("README.md", "utf8")) ?? [];
  const expected = printTable();
  if (unformat(table) === unformat(expected)) return [];
  return [`README.md: the table of operations must be as follows, formatted\n${expected}`];
}

function printTable(): string {
  const rows = OPERATIONS.map((operation) => {
    const { summary, method, path } = operation;
    const scopes = listScopes(operation).map((scope) => `\`${scope}\``).join(" ");
    return `| ${summary} | \`${method} ${path}\` | ${scopes === "" ? "any" : scopes} |`;
  });
  return ["| operation | request | needed scope |", "|-|-|-|", ...rows].join("\n");
}

/** Removes what `deno fmt` adds to a table. */
function unformat(table: string): string {
  return table.replace(/ +/g, "").replace(/-+/g, "-");
}
