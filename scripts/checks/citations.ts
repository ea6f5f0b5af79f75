import { access, readFile } from "node:fs/promises";
import { lineAt, readSource } from "./source.ts";

/** What can be cited: ids of rules, and headings of a page. */
export interface Citable {
  readonly ids: { readonly has: (id: string) => boolean };
  readonly anchorsOf: (markdown: string) => ReadonlySet<string>;
}

const CITATION = /@see[ \t]+(.*?)(?=[ \t]*(?:\*\/|@see[ \t]|$))/gm;

/** Lists what the comments of a source file cite with `@see`. */
export function listCitations(text: string): readonly { cited: string; line: number }[] {
  return [...blankStrings(text).matchAll(CITATION)].flatMap((match) =>
    match[1]!.split(/,\s*/).map((cited) => ({ cited, line: lineAt(text, match.index) }))
  );
}

function blankStrings(source: string): string {
  let blanked = "";
  for (const { text, start } of readSource(source).strings) {
    blanked += source.slice(blanked.length, start) + text.replaceAll(/[^\n]/g, " ");
  }
  return blanked + source.slice(blanked.length);
}

/**
 * Finds each `@see` that leads nowhere in a clone: it must name an id of docs/specification, a file of
 * the repository, a declaration (`{@link name}`) or an address.
 */
export async function findFalseCitations(
  file: string,
  { ids, anchorsOf }: Citable,
): Promise<readonly string[]> {
  const problems: string[] = [];
  for (const { cited, line } of listCitations(await readFile(file, "utf8"))) {
    const [path = "", anchor] = cited.split("#");
    if (ids.has(cited) || /^(https:\/\/\S+|\{@link \S+\})$/.test(cited)) continue;
    const found = /^[\w./-]*[./][\w./-]*$/.test(path) && await exists(path);
    if (!found) problems.push(`${file}:${line}: @see ${cited} does not exist`);
    else if (anchor !== undefined && !anchorsOf(await readFile(path, "utf8")).has(anchor)) {
      problems.push(`${file}:${line}: @see ${cited} leads to no heading`);
    }
  }
  return problems;
}

function exists(path: string): Promise<boolean> {
  return access(path).then(() => true, () => false);
}
