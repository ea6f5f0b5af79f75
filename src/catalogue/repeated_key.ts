/**
 * Finds a key that stands twice in one object of a JSON text, which `JSON.parse` would settle in
 * silence: the policy's first entry for a table would be lost. The text must be valid JSON.
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
