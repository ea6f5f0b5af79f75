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

/**
 * Gives what stands between the structural characters of a literal of Postgres, as its elements' or
 * bounds' input functions get it; what is empty and not quoted is left out. Whether the structure is
 * right is Postgres's to judge.
 */
export function readLeaves(text: string, structure: string): string[] {
  const leaves: string[] = [];
  let leaf = "";
  let quoted = false;
  let inQuotes = false;
  for (let at = 0; at <= text.length; at++) {
    const character = text[at];
    if (character === undefined || !inQuotes && structure.includes(character)) {
      const whole = quoted ? leaf : leaf.trim();
      if (quoted || whole !== "") leaves.push(whole);
      leaf = "";
      quoted = false;
    } else if (character === '"') {
      inQuotes = !inQuotes;
      quoted = true;
    } else leaf += character === "\\" ? text[++at] ?? "" : character;
  }
  return leaves;
}
