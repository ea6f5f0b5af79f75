/** One element of a header that is a list: `name=value;parameter=value`. */
export interface HeaderItem {
  /** As written; for comparing, in lower case where the header says so. */
  readonly name: string;
  /** Without quotes; empty when there is none. */
  readonly value: string;
  /** By name in lower case, values without quotes. */
  readonly parameters: ReadonlyMap<string, string>;
}

/**
 * Splits a header such as `Accept` or `Prefer` at its commas and semicolons, except for those in
 * quotes. In linear time; a malformed item becomes an unknown name.
 */
export function parseHeaderList(header: string | null): HeaderItem[] {
  const items: HeaderItem[] = [];
  for (const element of splitOutsideQuotes(header ?? "", ",")) {
    const [head = "", ...rest] = splitOutsideQuotes(element, ";");
    const [name, value] = splitPair(head);
    if (name === "") continue;
    const parameters = new Map<string, string>();
    for (const part of rest) {
      const [key, text] = splitPair(part);
      if (!parameters.has(key.toLowerCase())) parameters.set(key.toLowerCase(), text);
    }
    items.push({ name, value, parameters });
  }
  return items;
}

function splitOutsideQuotes(text: string, separator: string): string[] {
  if (!text.includes('"')) return text.split(separator);
  const parts: string[] = [];
  let start = 0;
  let quoted = false;
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (quoted && character === "\\") at++;
    else if (character === '"') quoted = !quoted;
    else if (character === separator && !quoted) {
      parts.push(text.slice(start, at));
      start = at + 1;
    }
  }
  parts.push(text.slice(start));
  return parts;
}

function splitPair(text: string): [name: string, value: string] {
  const equals = text.indexOf("=");
  if (equals < 0) return [text.trim(), ""];
  const value = text.slice(equals + 1).trim();
  const quoted = value.length >= 2 && value.startsWith('"') && value.endsWith('"');
  return [
    text.slice(0, equals).trim(),
    quoted ? value.slice(1, -1).replace(/\\(.)/g, "$1") : value,
  ];
}
