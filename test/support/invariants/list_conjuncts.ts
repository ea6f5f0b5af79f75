import type { Token } from "./parse_statement.ts";

/** The conjuncts of the WHERE at a table's own level; undefined without a WHERE, or with an OR in it. */
export function listConjuncts(tokens: readonly Token[], at: number): Token[][] | undefined {
  return splitConjuncts(tokens, at, { starts: ["where"], ends: ENDS });
}

/**
 * The conjuncts of `returning case when … then true when … then null end`, at the level of an update;
 * undefined for any other RETURNING.
 */
export function listReturned(tokens: readonly Token[], at: number): Token[][] | undefined {
  const { depth } = tokens[at]!;
  const start = tokens.findIndex((token, place) =>
    place > at && isWord(token, depth, ["returning"])
  );
  const clause = tokens.slice(start);
  const texts = clause.filter((token) => token.depth === depth && token.kind === "word")
    .map(({ text }) => text).join(" ");
  const isChecked = start > 0 &&
    /^returning case when .* then true when .* then null end\b/.test(texts);
  return isChecked ? splitConjuncts(clause, 0, { starts: ["when"], ends: ["then"] }) : undefined;
}

function splitConjuncts(
  tokens: readonly Token[],
  at: number,
  { starts, ends }: { readonly starts: readonly string[]; readonly ends: readonly string[] },
): Token[][] | undefined {
  const { depth } = tokens[at]!;
  const rest = tokens.slice(at);
  const closed = rest.findIndex((token) => token.depth < depth);
  const level = closed < 0 ? rest : rest.slice(0, closed);
  const start = level.findIndex((token) => isWord(token, depth, starts));
  if (start < 0) return undefined;
  const behind = level.slice(start + 1);
  const stop = behind.findIndex((token) => isWord(token, depth, ends));
  const condition = stop < 0 ? behind : behind.slice(0, stop);
  if (condition.some((token) => isWord(token, depth, ["or"]))) return undefined;
  const conjuncts: Token[][] = [[]];
  for (const token of condition) {
    if (isWord(token, depth, ["and"])) conjuncts.push([]);
    else conjuncts.at(-1)!.push(token);
  }
  return conjuncts;
}

const ENDS = [
  "order",
  "limit",
  "offset",
  "returning",
  "for",
  "group",
  "having",
  "union",
  "except",
  "intersect",
];

function isWord(token: Token, depth: number, words: readonly string[]): boolean {
  return token.kind === "word" && token.depth === depth && words.includes(token.text);
}
