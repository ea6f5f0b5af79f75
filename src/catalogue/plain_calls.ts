import type { SqlText } from "./catalogue.ts";
import { readTokens, type SqlToken } from "../database/postgres/qualified_expression.ts";

/** Calls with a syntax of their own, by their word: each returns the function and its arguments. */
const FORMS: Readonly<Record<string, (parts: Parts) => readonly string[] | undefined>> = {
  trim: ({ side, first, from }) =>
    from === undefined ? undefined : [TRIMS[side ?? "both"]!, from, ...first === "" ? [] : [first]],
  extract: ({ first, from }) => from === undefined ? undefined : [`"extract"`, `'${first}'`, from],
  position: ({ first, in: text }) => text === undefined ? undefined : [`"position"`, text, first],
  overlay: ({ first, placing, from, for: length }) =>
    placing === undefined || from === undefined
      ? undefined
      : [`"overlay"`, first, placing, from, ...length === undefined ? [] : [length]],
  substring: ({ first, from, for: length, similar, escape }) =>
    similar === undefined
      ? from === undefined
        ? undefined
        : [`"substring"`, first, from, ...length === undefined ? [] : [length]]
      : escape === undefined
      ? undefined
      : [`"substring"`, first, similar, escape],
  normalize: ({ first }) => {
    const [, text, form] = /^(.*), ?(nfk?[cd])$/is.exec(first) ?? [];
    return [`"normalize"`, ...form === undefined ? [first] : [text!, `'${form}'`]];
  },
};
const TRIMS: Readonly<Record<string, string>> = {
  both: "btrim",
  leading: "ltrim",
  trailing: "rtrim",
};
/** Words between the arguments of such a call. */
const BETWEEN = new Set(["from", "for", "in", "placing", "similar", "escape"]);

/** The arguments of a call, by the word before each. */
type Parts = { readonly first: string; readonly side?: string } & Readonly<Record<string, string>>;

/**
 * Rewrites `trim(both from a)`, `position(a in b)` and what else Postgres prints with a syntax of its own
 * as calls of the functions that these stand for, so that it can be part of another statement.
 * @see CH25
 */
export function writePlainCalls(expression: SqlText): SqlText {
  const tokens = readTokens(expression);
  let at = 0;
  return print(() => false) as SqlText;

  /** Prints up to where the end is found on this level, or the parenthesis that closes it. */
  function print(isEnd: (token: SqlToken) => boolean): string {
    let printed = "";
    while (at < tokens.length) {
      const token = tokens[at]!;
      if (token.text === ")" || isEnd(token)) break;
      at++;
      const form = token.kind === "word" && tokens[at]?.text === "("
        ? FORMS[token.text.toLowerCase()]
        : undefined;
      if (token.spaced && printed !== "") printed += " ";
      if (form !== undefined) printed += printCall(token.text, form);
      else if (token.text === "(") printed += `(${printInner()}`;
      else printed += token.text;
    }
    return printed;
  }

  function printInner(): string {
    const inner = print(() => false);
    at++;
    return `${inner})`;
  }

  function printCall(word: string, form: (typeof FORMS)[string]): string {
    const begin = ++at;
    const parts: Record<string, string> = {};
    const side = tokens[at]!.text.toLowerCase();
    if (side in TRIMS && word.toLowerCase() === "trim") {
      parts["side"] = side;
      at++;
    }
    const isBetween = ({ kind, text }: SqlToken) =>
      kind === "word" && BETWEEN.has(text.toLowerCase());
    parts["first"] = print(isBetween);
    while (tokens[at]!.text !== ")") {
      const name = tokens[at++]!.text.toLowerCase();
      parts[name] = print(isBetween);
    }
    const call = form(parts as Parts);
    if (call === undefined) {
      at = begin;
      return `${word}(${printInner()}`;
    }
    at++;
    const [name, ...values] = call;
    return `pg_catalog.${name}(${values.join(", ")})`;
  }
}
