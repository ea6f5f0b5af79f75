const NEEDS_ESCAPE = /["\\]/;

/**
 * Prints a list as an array literal of Postgres, every element quoted. The delimiter depends on the
 * type of the elements: `;` for `box`, `,` for all others.
 */
export function printArray(texts: readonly (string | null)[], elementType = ""): string {
  const delimiter = elementType === "box" ? ";" : ",";
  const escaped = texts.some((text) => text !== null && NEEDS_ESCAPE.test(text))
    ? texts.map((text) => text && escape(text))
    : texts;
  if (!texts.includes(null)) {
    return escaped.length === 0 ? "{}" : `{"${escaped.join(`"${delimiter}"`)}"}`;
  }
  const elements = escaped.map((text) => text === null ? "NULL" : `"${text}"`);
  return `{${elements.join(delimiter)}}`;
}

function escape(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll('"', '\\"');
}

/**
 * Returns what is between the structural characters of an array or range of Postgres, as the input
 * function of the elements or bounds gets it, except what is empty and not quoted. Whether the
 * structure is valid is left to Postgres.
 */
export function readElements(text: string, structure: string): string[] {
  const elements: string[] = [];
  scan(text, structure, (element, { quoted }) => {
    if (quoted || element !== "") elements.push(element);
  });
  return elements;
}

/**
 * Rewrites the elements of an array or the bounds of a range, as {@link readElements} finds them. What is
 * `NULL` or `empty` stays as it is.
 */
export function rewriteElements(
  text: string,
  structure: string,
  rewrite: (element: string) => string,
): string {
  let rewritten = "";
  scan(text, structure, (element, { quoted, end }) => {
    const isElement = quoted || element !== "" && !KEPT.test(element);
    rewritten += (isElement ? `"${escape(rewrite(element))}"` : element) + end;
  });
  return rewritten;
}

/** Where an element stands: whether it is quoted, and the structural character after it. */
interface Place {
  readonly quoted: boolean;
  /** Empty at the end of the text. */
  readonly end: string;
}

/** Calls back with each element, trimmed and without quotes and escapes; it may be empty. */
function scan(
  text: string,
  structure: string,
  take: (element: string, place: Place) => void,
): void {
  let element = "";
  let quoted = false;
  let inQuotes = false;
  for (let at = 0; at <= text.length; at++) {
    const character = text[at];
    if (character === undefined || !inQuotes && structure.includes(character)) {
      take(quoted ? element : element.trim(), { quoted, end: character ?? "" });
      element = "";
      quoted = false;
    } else if (character === '"') {
      inQuotes = !inQuotes;
      quoted = true;
    } else element += character === "\\" ? text[++at] ?? "" : character;
  }
}

/** Of an array also the bounds before its elements: `[0:1]=`. */
const KEPT = /^(null|empty|\[.*=)$/i;
