import type { Path } from "../errors/issue.ts";
import type { JsonReader } from "./json_reader.ts";

/**
 * The text of a document, which has more detail than its values: the number 1.5 may have been written
 * `1.50`.
 */
export interface SourceText {
  /** Prints a part of the document; an array or object of `fields` as the client wrote it. */
  readonly print: (part: unknown) => string;
  /** Prints the entries of an array of `fields`, each as the client wrote it. */
  readonly printEach: (array: readonly unknown[]) => readonly string[];
  /**
   * Returns the texts of the numbers in the array or object at a path that would print differently, by
   * key or position; undefined when there are none.
   */
  readonly literalsIn: (holder: Path) => Literals | undefined;
}

/** Texts of numbers by key or position. */
export type Literals = Readonly<Record<string | number, string>>;

/** The source text of values that were not parsed from text. */
export const NO_SOURCE: SourceText = {
  print: (part) => JSON.stringify(part),
  printEach: (array) => array.map((entry) => JSON.stringify(entry)),
  literalsIn: () => undefined,
};

/** Returns the source text of a document that has been read. */
export function keepSource(
  { text, spans, literals }: Pick<JsonReader, "text" | "spans" | "literals">,
  document: unknown,
): SourceText {
  const find = (path: Path): unknown =>
    path === null
      ? document
      : (find(path.holder) as Record<string, unknown> | undefined)?.[path.key];
  const sourceOf = (part: unknown) => {
    const span = spans.get(part);
    return span && text.slice(...span);
  };
  return {
    print: (part) => sourceOf(part) ?? NO_SOURCE.print(part),
    printEach: (array) => {
      const text = sourceOf(array);
      return text === undefined ? NO_SOURCE.printEach(array) : splitArray(text);
    },
    literalsIn: (holder) => literals.size === 0 ? undefined : literals.get(find(holder)),
  };
}

/** The tokens that determine where an entry of an array ends; a string is one token. */
const TOKEN = /"(?:[^"\\]|\\.)*"|[[\]{},]/gs;

/** Splits the text of an array, which is known to be JSON, into its entries. */
function splitArray(text: string): string[] {
  const entries: string[] = [];
  let depth = 0;
  let start = 1;
  for (const { 0: token, index } of text.matchAll(TOKEN)) {
    if (token === "[" || token === "{") depth++;
    else if (token === "]" || token === "}") depth--;
    const ends = depth === 0 || depth === 1 && token === ",";
    if (!ends) continue;
    const entry = text.slice(start, index).trim();
    if (entry !== "") entries.push(entry);
    start = index + 1;
  }
  return entries;
}
