/**
 * Prints a list as the array literal that Postgres reads, every element quoted.
 * `elementType` decides the delimiter: `box` alone has `;`.
 */
export function printArray(texts: readonly (string | null)[], elementType = ""): string {
  const elements = texts.map((text) =>
    text === null ? "NULL" : `"${text.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`
  );
  return `{${elements.join(elementType === "box" ? ";" : ",")}}`;
}
