const NEEDS_ESCAPE = /["\\]/;

/**
 * Prints a list as the array literal that Postgres reads, every element quoted.
 * `elementType` decides the delimiter: `box` alone has `;`.
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
