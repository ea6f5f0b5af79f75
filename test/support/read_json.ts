const STRING = /"(?:[^"\\]|\\.)*"(\s*:)?/g;

/**
 * Reads JSON as `JSON.parse` does, keys with escapes exactly. V8 takes such a key for one of an earlier
 * document whose first characters are spelt like it: after `{"h":[],"\\":0}` the key of `{"h":1,"\"":2}`
 * is a backslash. So keys are read by themselves and stand in the document without escapes.
 * @see https://github.com/nodejs/node/issues/63785
 */
export function readJson(text: string): unknown {
  if (!text.includes("\\")) return JSON.parse(text);
  const plain = text.replace(STRING, (string, colon?: string) => {
    if (colon === undefined) return string;
    const key = JSON.parse(string.slice(0, -colon.length));
    return `"${encodeURIComponent(key)}"${colon}`;
  });
  return nameKeys(JSON.parse(plain));
}

function nameKeys(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(nameKeys);
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [decodeURIComponent(key), nameKeys(item)]),
  );
}
