import { parseJson } from "../basics/json/parse_json.ts";

/** Describes where a text is not valid JSON. */
export function findSyntaxError(text: string): string {
  try {
    parseJson(text);
    return "not valid JSON";
  } catch (error) {
    return (error as Error).message.replace(/^body: /, "");
  }
}

/**
 * Finds a key that an object in a JSON text has twice, because `JSON.parse` would silently drop the
 * first entry. The text must be valid JSON.
 */
export function findRepeatedKey(text: string): string | undefined {
  const open: (Set<string> | undefined)[] = [];
  for (const token of text.matchAll(/("(?:[^"\\]|\\.)*")(\s*:)?|[{}[\]]/g)) {
    const [mark, string, colon] = token;
    if (mark === "{") open.push(new Set());
    else if (mark === "[") open.push(undefined);
    else if (mark === "}" || mark === "]") open.pop();
    if (string === undefined || colon === undefined) continue;
    const key = JSON.parse(string) as string;
    const keys = open.at(-1);
    if (keys?.has(key)) return key;
    keys?.add(key);
  }
  return undefined;
}
