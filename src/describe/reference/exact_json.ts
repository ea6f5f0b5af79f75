/**
 * JSON as text, where JavaScript would not keep all of it: digits beyond those of a double, `1.50`, a key
 * that is there twice, the order of keys that are numbers.
 */
export interface JsonText {
  readonly text: string;
  /** What `JSON.stringify` writes in its place, to compare it. */
  readonly toJSON: () => string;
  readonly toString: () => string;
}

const texts = new WeakSet<object>();
/** A token of JSON, or the white space before one. */
const TOKEN = /"(?:[^"\\]|\\.)*"|[^\s"[\]{},:]+|[[\]{},:]|\s+/g;

/** Whether a value is kept as its text. */
export function isJsonText(value: unknown): value is JsonText {
  return typeof value === "object" && value !== null && texts.has(value);
}

/** Whether a value is kept as its text, or a part of it is. */
export function holdsJsonText(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  return isJsonText(value) || Object.values(value).some(holdsJsonText);
}

/**
 * Parses JSON; what would lose something is kept as text.
 * @throws {SyntaxError} when it is no JSON
 * @see CL4
 */
export function parseExact(json: string): unknown {
  const value: unknown = JSON.parse(json);
  const text = squeeze(json);
  if (JSON.stringify(value) === text) return value;
  const kept = { text, toJSON: () => text, toString: () => text };
  texts.add(kept);
  return kept;
}

/** Parses a response: each value of a record is exact, everything else is as JavaScript reads it. */
export function parseResponse<Body>(json: string): Body {
  const value: unknown = JSON.parse(json);
  if (JSON.stringify(value) === squeeze(json) || !isObject(json)) return value as Body;
  return readParts(json, (name, part) => {
    if (name === "records") return splitParts(part).map(([, row]) => readRow(row));
    if (name === "changes") return splitParts(part).map(([, change]) => parseResponse(change));
    return name === "record" || name === "key" ? readRow(part) : JSON.parse(part);
  }) as Body;
}

function readRow(json: string): unknown {
  return isObject(json) ? readParts(json, (_, part) => parseExact(part)) : JSON.parse(json);
}

function isObject(json: string): boolean {
  return json.trimStart().startsWith("{");
}

function readParts(json: string, read: (name: string, part: string) => unknown): object {
  return Object.fromEntries(splitParts(json).map(([name, part]) => [name, read(name, part)]));
}

/** Splits an object into names and texts, or an array into texts. */
function splitParts(json: string): (readonly [name: string, text: string])[] {
  const parts: (readonly [string, string])[] = [];
  let depth = 0;
  let name = "";
  let part = "";
  for (const [token] of json.matchAll(TOKEN)) {
    const opens = token === "{" || token === "[";
    const closes = token === "}" || token === "]";
    if (closes) depth--;
    if (depth === 0 || depth === 1 && token === ",") {
      if (part.trim() !== "") parts.push([name, part.trim()]);
      name = part = "";
    } else if (depth === 1 && token === ":") {
      name = JSON.parse(part);
      part = "";
    } else part += token;
    if (opens) depth++;
  }
  return parts;
}

/** Parses a filter; each value in it is exact. @throws {SyntaxError} when it is no JSON */
export function parseExactFilter(json: string): unknown {
  const value: unknown = JSON.parse(json);
  if (JSON.stringify(value) === squeeze(json) || !isObject(json)) return value;
  return readParts(json, (name, part) => {
    if (name !== "and" && name !== "or") return parseExact(part);
    return splitParts(part).map(([, item]) => parseExactFilter(item));
  });
}

/** Writes JSON, in which values that are kept as text stand as they are. */
export function writeExact(value: unknown): string {
  if (value === undefined) return "null";
  if (isJsonText(value)) return value.text;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(writeExact)}]`;
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${writeExact(member)}`)}}`;
}

/** Writes JSON over several lines, as `JSON.stringify` does, without changing a token of it. */
export function writeIndented(value: unknown): string {
  if (!isJsonText(value)) return JSON.stringify(value, null, 2);
  let margin = "\n";
  let written = "";
  for (const [token] of value.text.matchAll(TOKEN)) {
    const closes = token === "}" || token === "]";
    if (closes) margin = margin.slice(0, -2);
    const isEmpty = closes && /[[{]$/.test(written);
    if (!isEmpty && (closes || /[[{,]$/.test(written))) written += margin;
    written += token === ":" ? ": " : token;
    if (token === "{" || token === "[") margin += "  ";
  }
  return written;
}

/** Removes the white space between tokens. */
function squeeze(json: string): string {
  return json.replace(TOKEN, (token) => /^\s/.test(token) ? "" : token);
}
