import type { Path } from "../errors/issue.ts";
import type { JsonReader } from "./json_reader.ts";

/** The text of a document where its values alone do not say it: a number is `1.5`, its text `1.50`. */
export interface SourceText {
  /** Gives a part of the document as JSON: an array or object of `fields` as the client wrote it. */
  readonly print: (part: unknown) => string;
  /** Gives the entries of an array of `fields` as JSON, each as the client wrote it. */
  readonly printEach: (array: readonly unknown[]) => readonly string[];
  /**
   * Gives the texts of the numbers in the array or object at a path, by key or position: those that
   * the number does not print as. Undefined: there are none.
   */
  readonly literalsIn: (holder: Path) => Literals | undefined;
}

/** Texts of numbers by the key or position at which they stand. */
export type Literals = Readonly<Record<string | number, string>>;

/** For values that were never text. */
export const NO_SOURCE: SourceText = {
  print: (part) => JSON.stringify(part),
  printEach: (array) => array.map((entry) => JSON.stringify(entry)),
  literalsIn: () => undefined,
};

/** Gives the words of a document that was read to its end. */
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
      const words = sourceOf(array);
      return words === undefined ? NO_SOURCE.printEach(array) : splitArray(words);
    },
    literalsIn: (holder) => literals.size === 0 ? undefined : literals.get(find(holder)),
  };
}

/** What decides where an entry of an array ends; a string is one piece. */
const PIECE = /"(?:[^"\\]|\\.)*"|[[\]{},]/gs;

/** Gives the entries of an array as they stand in its text, which is known to be JSON. */
function splitArray(text: string): string[] {
  const entries: string[] = [];
  let depth = 0;
  let start = 1;
  for (const { 0: piece, index } of text.matchAll(PIECE)) {
    if (piece === "[" || piece === "{") depth++;
    else if (piece === "]" || piece === "}") depth--;
    const ends = depth === 0 || depth === 1 && piece === ",";
    if (!ends) continue;
    const entry = text.slice(start, index).trim();
    if (entry !== "") entries.push(entry);
    start = index + 1;
  }
  return entries;
}
