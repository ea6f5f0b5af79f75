/** A token of a statement. */
export interface SqlToken {
  readonly kind: "word" | "name" | "string" | "operator" | "other";
  readonly text: string;
  /** True if white space comes before it. */
  readonly spaced: boolean;
}

/** White space, then quoted names, strings, words, operators, and parameters, numbers and marks. */
const TOKEN =
  /(\s*)(?:("(?:[^"]|"")*")|('(?:[^']|'')*')|([A-Za-z_][\w$]*)|(::)|([-+*\/<>=~!@#%^&|`?]+)|(\$\d+|\d[\w.]*|\S))/gy;

/** Splits a statement into tokens. It must have no comments and no dollar quotes. */
export function readTokens(text: string): SqlToken[] {
  const tokens: SqlToken[] = [];
  for (const [, space, name, string, word, cast, operator, other] of text.matchAll(TOKEN)) {
    const kind = name !== undefined
      ? "name"
      : string !== undefined
      ? "string"
      : word !== undefined
      ? "word"
      : operator !== undefined
      ? "operator"
      : "other";
    tokens.push({
      kind,
      text: (name ?? string ?? word ?? cast ?? operator ?? other)!,
      spaced: space !== "",
    });
  }
  return tokens;
}
