/** One token of a statement, and how many parentheses are open around it. */
export interface Token {
  readonly kind: "word" | "name" | "text" | "number" | "parameter" | "sign";
  /** Words in lower case; names without their quotes; parameters by their number. */
  readonly text: string;
  readonly depth: number;
}

const TOKEN =
  /\s+|--[^\n]*|([a-z_][a-z0-9_]*)|"((?:[^"]|"")*)"|'((?:[^']|'')*)'|\$(\d+)|(\d+(?:\.\d+)?)|(::|<>|<=|>=|[-+*/=<>(),.;[\]~!#@&|:])/gyi;

/**
 * Splits a statement into tokens.
 * @throws {Error} on a character that begins none
 */
export function parseStatement(statement: string): Token[] {
  const tokens: Token[] = [];
  let depth = 0;
  let end = 0;
  TOKEN.lastIndex = 0;
  for (let found = TOKEN.exec(statement); found !== null; found = TOKEN.exec(statement)) {
    end = TOKEN.lastIndex;
    const [, word, name, text, parameter, number, sign] = found;
    if (sign === ")") depth--;
    const add = (kind: Token["kind"], text: string) => tokens.push({ kind, text, depth });
    if (word !== undefined) add("word", word.toLowerCase());
    else if (name !== undefined) add("name", name.replaceAll('""', '"'));
    else if (text !== undefined) add("text", text);
    else if (parameter !== undefined) add("parameter", parameter);
    else if (number !== undefined) add("number", number);
    else if (sign !== undefined) add("sign", sign);
    if (sign === "(") depth++;
  }
  if (end < statement.length) {
    throw new Error(`cannot be read from: ${statement.slice(end, end + 60)}`);
  }
  return tokens;
}

/** A table that a statement names. */
export interface TableReference {
  readonly schema: string;
  readonly table: string;
  readonly alias: string | undefined;
  /** `from` or `join` reads it, `update`, `delete` and the like write it. */
  readonly verb: string;
  /** Position of the name among the tokens. */
  readonly at: number;
}

const VERBS = new Set([
  "from",
  "join",
  "update",
  "into",
  "using",
  "table",
  "only",
  "truncate",
  "on",
]);

/**
 * Lists what a statement names as tables: every name behind a verb, and every name with a schema, a
 * comma before it or not. A name that begins with `$` is a part of the statement itself: no schema and
 * no table of the tests does.
 */
export function listTables(tokens: readonly Token[]): TableReference[] {
  const found: TableReference[] = [];
  tokens.forEach((token, at) => {
    if (!isName(token) || tokens[at - 1]?.text === "." || tokens[at - 1]?.text === "::") return;
    const before = tokens[at - 1];
    const qualified = tokens[at + 1]?.text === "." && isName(tokens[at + 2]);
    const verb = before?.kind === "word" && VERBS.has(before.text) ? before.text : undefined;
    if (verb === undefined && !(qualified && isList(tokens, at))) return;
    if (token.text.startsWith("$")) return;
    const end = at + (qualified ? 3 : 1);
    const next = tokens[verb === "into" && tokens[end]?.text === "as" ? end + 1 : end];
    if (next?.text === "(") return;
    found.push({
      schema: qualified ? token.text : "",
      table: qualified ? tokens[at + 2]!.text : token.text,
      alias: next?.kind === "name" ? next.text : undefined,
      verb: tokens[at - 2]?.text === "delete" ? "delete" : verb ?? "from",
      at,
    });
  });
  return found;
}

/** `"a"."b" "c"`: two names and a third; a column of an alias has no alias of its own. */
function isList(tokens: readonly Token[], at: number): boolean {
  return tokens[at - 1]?.text === "," && tokens[at + 3]?.kind === "name";
}

function isName(token: Token | undefined): boolean {
  return token?.kind === "name" || token?.kind === "word" && !RESERVED.has(token.text);
}

const RESERVED = new Set([
  "select",
  "from",
  "where",
  "update",
  "set",
  "with",
  "as",
  "and",
  "or",
  "not",
  "on",
  "true",
  "false",
  "case",
  "when",
  "then",
  "else",
  "end",
  "null",
  "is",
  "in",
  "any",
  "all",
  "between",
  "like",
  "limit",
  "offset",
  "order",
  "by",
  "group",
  "returning",
  "for",
  "left",
  "join",
  "using",
  "lateral",
  "only",
  "into",
  "values",
  "exists",
  "distinct",
  "union",
  "recursive",
  "conflict",
  "do",
  "nothing",
  "of",
]);
