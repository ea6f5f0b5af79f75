import {
  type ExpressionPart,
  type Operand,
  qualifyExpression,
  readTokens,
  type SqlToken,
} from "./qualified_expression.ts";

/** The statements that read and write rows. Others run with a search path of their own. */
const QUALIFIED = /^(?:select|with|values|insert|update|delete|explain)\b/;

const words = (list: string): ReadonlySet<string> => new Set(list.split(" "));
/** Words between expressions. */
const BETWEEN_EXPRESSIONS = words(
  "select from where and or not is when then else end on as with recursive union intersect except " +
    "distinct order by group having limit offset returning set values into insert update delete " +
    "using cross join left right full inner lateral for do conflict materialized explain",
);
/** What looks like a function and is a part of the language. */
const SYNTAX = words(
  "any all some exists row array coalesce greatest least extract filter over only rows operator",
);
/** Words that continue the operand before them. */
const SUFFIXES = words("filter over within");
/** Operators that are words, behind `not` as well. */
const WORD_OPERATORS = words("like ilike in between");
/** Types that the language itself names. */
const TYPES = words(
  "integer int smallint bigint real float double decimal dec numeric boolean char character varchar " +
    "bit time timestamp interval",
);
/** Words after which a list of assignments has ended. */
const AFTER_SET = words("from where returning");

/**
 * Qualifies every operator, function, type and collation of a statement that has no schema with
 * `pg_catalog`. Postgres would look them up through the search path, where another role may have
 * planted one that fits better, such as `public.=(varchar, varchar)`. No setting of a session can
 * prevent this behind a pooler, and a path without the operator's schemas would break the operator's
 * own triggers and functions. Every statement passes through here.
 *
 * It relies on how the statements of this program are written: lower case, no comments, no
 * `join … using (…)`, no `cast(…)`, and tables with their schemas.
 * @throws {Error} if a statement is written otherwise, and its operands cannot be told apart
 * @see TE25
 * @see docs/decisions/0027-connections.md
 */
export function qualify(text: string): string {
  if (!QUALIFIED.test(text)) return text;
  return printLevel({ tokens: readTokens(text), at: 0 }, []);
}

interface Reader {
  readonly tokens: readonly SqlToken[];
  at: number;
}

/** What was read of one level of parentheses. */
interface Level {
  printed: string;
  parts: ExpressionPart[];
  /** True where a `=` assigns. */
  assigns: boolean;
  /** True within SET. */
  isSet: boolean;
}

const peek = ({ tokens, at }: Reader, ahead = 0) => tokens[at + ahead]?.text;

function takeRaw(reader: Reader): string {
  const { text, spaced } = reader.tokens[reader.at++]!;
  return spaced ? ` ${text}` : text;
}

/** Prints everything up to one of the ends on the same level, which is not taken. */
function printLevel(reader: Reader, ends: readonly string[]): string {
  const level: Level = { printed: "", parts: [], assigns: false, isSet: false };
  while (reader.at < reader.tokens.length && !ends.includes(peek(reader)!)) step(reader, level);
  return finish(level);
}

function finish(level: Level): string {
  if (level.parts.length > 0) level.printed += qualifyExpression(level.parts);
  level.parts = [];
  return level.printed;
}

function step(reader: Reader, level: Level): void {
  const { tokens, at } = reader;
  const { kind, text, spaced } = tokens[at]!;
  const last = level.parts.at(-1);
  const before = last?.kind === "operand" ? last : undefined;
  const passOn = () => {
    finish(level);
    level.printed += takeRaw(reader);
  };
  if (text === "=" && level.assigns) {
    passOn();
    level.assigns = false;
    return;
  }
  const name = takeOperator(reader, level);
  if (name !== undefined) return void level.parts.push({ kind: "operator", name, spaced });
  if (before !== undefined && continues(reader)) return void (before.text += printSuffix(reader));
  if (text === "," || text === ";") {
    passOn();
    level.assigns = level.isSet;
  } else if (kind === "word" && isBetweenExpressions(reader)) {
    if (text === "set" || AFTER_SET.has(text)) level.isSet = level.assigns = text === "set";
    passOn();
  } else if (before !== undefined) passOn();
  else level.parts.push(readOperand(reader, last?.kind === "operator" && last.name.endsWith("in")));
}

function isBetweenExpressions(reader: Reader): boolean {
  const text = peek(reader)!;
  const isFunction = (text === "left" || text === "right") && peek(reader, 1) === "(";
  return BETWEEN_EXPRESSIONS.has(text) && !isFunction;
}

/** Takes an operator, if there is one here; `*` alone stands for all columns. */
function takeOperator(reader: Reader, { parts }: Level): string | undefined {
  const { kind, text } = reader.tokens[reader.at]!;
  const isBehindOperand = parts.at(-1)?.kind === "operand";
  const take = (count: number) => {
    const taken = reader.tokens.slice(reader.at, reader.at += count);
    return taken.map((token) => token.text).join(" ");
  };
  if (kind === "operator") return text !== "*" || isBehindOperand ? take(1) : undefined;
  if (kind !== "word") return undefined;
  if (text === "operator" && peek(reader, 1) === "(") return takeNamedOperator(reader);
  if (!isBehindOperand) return undefined;
  if (WORD_OPERATORS.has(text)) return take(1);
  if (text === "not" && WORD_OPERATORS.has(peek(reader, 1)!)) return take(2);
  if (text === "and" && needsAnd(parts)) return take(1);
  if (text !== "is") return undefined;
  const length = peek(reader, 1) === "not" ? 4 : 3;
  const isDistinct = peek(reader, length - 2) === "distinct" && peek(reader, length) !== "null";
  return isDistinct ? take(length) : undefined;
}

function needsAnd(parts: readonly ExpressionPart[]): boolean {
  const names = parts.map((part) => part.kind === "operator" ? part.name : "");
  return names.lastIndexOf("between") > names.lastIndexOf("and");
}

/** `operator("schema".=)`, whose schema is that of the column's type. */
function takeNamedOperator(reader: Reader): string {
  let printed = "";
  while (!printed.endsWith(")")) printed += takeRaw(reader).trim();
  return printed;
}

function continues(reader: Reader): boolean {
  const { kind, text } = reader.tokens[reader.at]!;
  if (kind === "string") return true;
  if (kind === "other") return [".", "::", "[", "("].includes(text);
  return kind === "word" &&
    (SUFFIXES.has(text) || text === "collate" || text === "at" && peek(reader, 1) === "time");
}

function printSuffix(reader: Reader): string {
  const text = peek(reader)!;
  switch (text) {
    case "(":
      return printGroup(reader, ")");
    case "[":
      return printGroup(reader, "]");
    case ".":
      return takeRaw(reader) + takeRaw(reader);
    case "::":
      return takeRaw(reader) + printType(reader);
    case "collate":
      return takeRaw(reader) + printName(reader);
    case "at": {
      const zone = takeRaw(reader) + takeRaw(reader) + takeRaw(reader);
      const operand = readOperand(reader, false);
      return `${zone} ${operand.text}`;
    }
  }
  return takeRaw(reader);
}

/** Prints a type, with all words of those that have several: `timestamp(3) without time zone`. */
function printType(reader: Reader): string {
  const isKnown = TYPES.has(peek(reader)!);
  let printed = printName(reader, TYPES);
  if (!isKnown) return printed;
  if (/^(?:precision|varying)$/.test(peek(reader) ?? "")) printed += takeRaw(reader);
  if (peek(reader) === "(") printed += printGroup(reader, ")");
  const hasZone = /^(?:without|with)$/.test(peek(reader) ?? "") && peek(reader, 1) === "time";
  return hasZone ? printed + takeRaw(reader) + takeRaw(reader) + takeRaw(reader) : printed;
}

/** Prints a name that has its schema from here on. */
function printName(reader: Reader, known?: ReadonlySet<string>): string {
  const { text, spaced } = reader.tokens[reader.at]!;
  if (peek(reader, 1) === "." || known?.has(text)) return takeRaw(reader);
  reader.at++;
  return `${spaced ? " " : ""}pg_catalog.${text}`;
}

function printGroup(reader: Reader, end: ")" | "]"): string {
  const begin = takeRaw(reader);
  const inner = printLevel(reader, [end]);
  return begin + inner + takeRaw(reader);
}

function readOperand(reader: Reader, isList: boolean): Operand {
  const { kind, text, spaced } = reader.tokens[reader.at]!;
  const operand = (text: string, isRow = false) =>
    ({ kind: "operand", text: text.trimStart(), spaced, isRow }) as const;
  if (text === "(" && isList) return readList(reader);
  if (text === "(") {
    const isRow = hasSeveral({ tokens: reader.tokens, at: reader.at - 1 });
    return operand(printGroup(reader, ")"), isRow);
  }
  if (kind !== "word") return operand(takeRaw(reader));
  if (text === "case") return operand(printCase(reader));
  if (text === "nullif") return operand(printNullIf(reader));
  const next = reader.tokens[reader.at + 1];
  const isFunction = next?.text === "(" && !SYNTAX.has(text) && !isNewName(reader) &&
    !(text === "unnest" && hasSeveral(reader));
  const isTyped = next?.kind === "string" && !TYPES.has(text);
  const isCatalogue = text.startsWith("pg_");
  const printed = isFunction || isTyped || isCatalogue ? printName(reader) : takeRaw(reader);
  return operand(printed, text === "row");
}

/** Reports whether the name before a parenthesis is given here, to a subquery or a function's rows. */
function isNewName(reader: Reader): boolean {
  if (peek(reader, -1) === "as") return true;
  let depth = 0;
  let ahead = 1;
  do {
    if (peek(reader, ahead) === "(") depth++;
    if (peek(reader, ahead) === ")") depth--;
    ahead++;
  } while (depth > 0);
  return peek(reader, ahead) === "as" && /^(?:\(|not|materialized)$/.test(peek(reader, ahead + 1)!);
}

/**
 * Reports whether the parentheses behind the place have several items. An `unnest` of several is
 * syntax, and always Postgres's own.
 */
function hasSeveral({ tokens, at }: Reader): boolean {
  let depth = 0;
  for (let place = at + 1;; place++) {
    const { text } = tokens[place]!;
    if (text === "(" || text === "[") depth++;
    else if (text === ")" || text === "]") depth--;
    else if (text === "," && depth === 1) return true;
    if (depth === 0) return false;
  }
}

/** Reads what follows IN: items, or a subquery. */
function readList(reader: Reader): Operand {
  if (/^(?:select|with|values)$/.test(peek(reader, 1)!)) {
    return { kind: "operand", text: printGroup(reader, ")"), spaced: true };
  }
  const items: string[] = [];
  while (peek(reader) !== ")") {
    takeRaw(reader);
    items.push(printLevel(reader, [",", ")"]));
  }
  takeRaw(reader);
  return { kind: "operand", text: "", spaced: true, items };
}

/** Prints a CASE. One that compares an operand does so with a qualified operator. */
function printCase(reader: Reader): string {
  let printed = takeRaw(reader);
  const operand = printLevel(reader, ["when"]).trim();
  while (peek(reader) === "when") {
    printed += takeRaw(reader);
    const condition = printLevel(reader, ["then"]);
    printed += operand === "" ? condition : ` (${operand}) operator(pg_catalog.=) (${condition})`;
    printed += takeRaw(reader) + printLevel(reader, ["when", "else", "end"]);
  }
  if (peek(reader) === "else") printed += takeRaw(reader) + printLevel(reader, ["end"]);
  return printed + takeRaw(reader);
}

function printNullIf(reader: Reader): string {
  reader.at += 2;
  const value = printLevel(reader, [","]).trim();
  reader.at++;
  const none = printLevel(reader, [")"]).trim();
  reader.at++;
  return `(case when (${value}) operator(pg_catalog.=) (${none}) then null else ${value} end)`;
}
