import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** A fenced code block of a document. */
export interface Block {
  /** The text after the fence, empty for a block without a language. */
  readonly language: string;
  /** The content, without the indentation of a surrounding list. */
  readonly text: string;
  /** Number of its first line, counted from 1. */
  readonly line: number;
}

/** The root folder of the project, with a trailing slash. */
export const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** Lists the paths of all documents for users, operators and contributors. */
export async function listDocuments(): Promise<string[]> {
  const folders = await Promise.all(
    ["docs", "examples"].map(async (folder) =>
      (await readdir(join(ROOT, folder), { recursive: true })).map((name) => `${folder}/${name}`)
    ),
  );
  const pages = folders.flat().filter((name) => name.endsWith(".md")).sort();
  return ["README.md", "CONTRIBUTING.md", "SECURITY.md", ...pages];
}

/** Reads the text of a document. */
export function readDocument(path: string): Promise<string> {
  return readFile(join(ROOT, path), "utf8");
}

/**
 * Reads the fenced blocks of a Markdown document, including those in lists.
 * @throws {Error} if the last block has no end
 */
export function readBlocks(markdown: string): Block[] {
  const blocks: Block[] = [];
  let open: { indent: string; language: string; lines: string[]; line: number } | undefined;
  markdown.split("\n").forEach((text, index) => {
    const [, indent = "", language = ""] = /^( *)```(.*)$/.exec(text) ?? [];
    if (!text.trimStart().startsWith("```")) {
      open?.lines.push(text.startsWith(open.indent) ? text.slice(open.indent.length) : text);
    } else if (open === undefined) open = { indent, language, lines: [], line: index + 2 };
    else {
      blocks.push({ language: open.language, text: open.lines.join("\n"), line: open.line });
      open = undefined;
    }
  });
  if (open !== undefined) throw new Error(`line ${open.line}: the block does not end`);
  return blocks;
}

/** Reads the content of the blocks that have a language. */
export function readTexts(markdown: string, language: string): string[] {
  return readBlocks(markdown).filter((block) => block.language === language)
    .map(({ text }) => text);
}

/** Splits a block of shell into commands; a command continues after `\` and inside quotes. */
export function splitCommands(text: string): string[] {
  const commands: string[] = [];
  let command = "";
  for (const line of text.split("\n")) {
    command += command === "" ? line : `\n${line}`;
    if (command.endsWith("\\") || (command.split("'").length % 2 === 0)) continue;
    const bare = command.replace(/\s+# [^'"]*$/, "").trim();
    if (bare !== "") commands.push(bare);
    command = "";
  }
  if (command !== "") throw new Error(`the command does not end: ${command}`);
  return commands;
}
