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

/** A part of an expression: an operand, or what stands between two operands. */
export type ExpressionPart = Operand | Operator;

/** An operand, printed already. */
export interface Operand {
  readonly kind: "operand";
  text: string;
  readonly spaced: boolean;
  /** True for several values in parentheses. */
  readonly isRow?: boolean;
  /** The printed items, if it is a list behind IN. */
  readonly items?: readonly string[];
}

/** An operator, by the name that the statement gives it. */
export interface Operator {
  readonly kind: "operator";
  readonly name: string;
  readonly spaced: boolean;
}

/** Operators that are words, and the operators of Postgres that they stand for. */
const WORDS: ReadonlyMap<string, string> = new Map([
  ["like", "~~"],
  ["ilike", "~~*"],
  ["not like", "!~~"],
  ["not ilike", "!~~*"],
]);
const COMPARISONS: ReadonlySet<string> = new Set(["=", "<>", "!=", "<", ">", "<=", ">="]);
/** How tightly operators bind in Postgres, by their names; all others bind as `OTHER`. */
const PRECEDENCES: ReadonlyMap<string, number> = new Map([
  ...["is distinct from", "is not distinct from"].map((name) => [name, 1] as const),
  ...[...COMPARISONS].map((name) => [name, 2] as const),
  ...[...WORDS.keys(), "in", "not in", "between"].map((name) => [name, 3] as const),
  ...["+", "-"].map((name) => [name, 5] as const),
  ...["*", "/", "%"].map((name) => [name, 6] as const),
  ["^", 7],
  // The second half of BETWEEN, which reads it by itself.
  ["and", -1],
]);
const OTHER = 4;
const NUMBER = /^\d/;

/** Prints an operator of Postgres; one that names its schema stays as it is. */
export function qualifyOperator(name: string): string {
  return name.startsWith("operator") ? name : `operator(pg_catalog.${WORDS.get(name) ?? name})`;
}

interface Printed {
  readonly text: string;
  readonly spaced: boolean;
  /** True if it contains an operator that is not in parentheses. */
  readonly compound: boolean;
  readonly isRow?: boolean | undefined;
  readonly items?: readonly string[] | undefined;
}

/**
 * Prints an expression with qualified operators. These all bind alike, so parentheses keep what bound
 * more tightly together.
 */
export function qualifyExpression(parts: readonly ExpressionPart[]): string {
  let at = 0;
  const { text, spaced } = read(0);
  // A half expression would be printed otherwise, and mean something else.
  if (at < parts.length) throw new Error("an expression of a statement could not be read");
  return `${spaced ? " " : ""}${text}`;

  function read(least: number): Printed {
    let left = readOperand();
    while (at < parts.length) {
      const { name } = parts[at] as Operator;
      const precedence = PRECEDENCES.get(name) ?? OTHER;
      if (precedence < least) break;
      at++;
      const right = read(precedence + 1);
      if (name !== "between") left = join(left, name, right);
      else {
        // The `and` is an operator here.
        at++;
        const high = read(precedence + 1);
        left = group(left, [[">=", right], ["<=", high]], " and ");
      }
    }
    return left;
  }

  function readOperand(): Printed {
    const part = parts[at++];
    if (part === undefined) return { text: "", spaced: false, compound: false };
    if (part.kind === "operand") return { ...part, compound: false };
    const operand = readOperand();
    const text = NUMBER.test(operand.text)
      ? `${part.name}${operand.text}`
      : `(${qualifyOperator(part.name)} ${operand.text})`;
    return { text, spaced: part.spaced, compound: false };
  }
}

function join(left: Printed, name: string, right: Printed): Printed {
  switch (name) {
    case "is distinct from":
      return isSame(left, right, "not ");
    case "is not distinct from":
      return isSame(left, right);
    case "in":
      return contain(left, right, { compare: "=", quantifier: "any", joint: " or " });
    case "not in":
      return contain(left, right, { compare: "<>", quantifier: "all", joint: " and " });
  }
  return {
    text: `${left.text} ${qualifyOperator(name)} ${enclose(right)}`,
    spaced: left.spaced,
    compound: true,
  };
}

/**
 * NULL is the same as NULL. The operator decides which types the values have, as it does in Postgres;
 * a function that compares rows would fail on a literal, which has no type in a row.
 */
function isSame(left: Printed, right: Printed, not = ""): Printed {
  if (left.isRow || right.isRow) throw new Error("a statement compares rows by IS DISTINCT FROM");
  const equals = `${left.text} ${qualifyOperator("=")} ${enclose(right)}`;
  const nulls = `pg_catalog.num_nulls(${left.text}, ${right.text}) ${qualifyOperator("=")} 2`;
  const text = `(${not}coalesce(${equals}, ${nulls}))`;
  return { text, spaced: left.spaced, compound: false };
}

function contain(
  left: Printed,
  { text, items }: Printed,
  { compare, quantifier, joint }: Record<"compare" | "quantifier" | "joint", string>,
): Printed {
  if (items === undefined) {
    const list = `${left.text} ${qualifyOperator(compare)} ${quantifier} ${text}`;
    return { text: list, spaced: left.spaced, compound: true };
  }
  const values = items.map((item) => [compare, { text: item.trim(), compound: true }] as const);
  return group(left, values, joint);
}

function group(
  left: Printed,
  comparisons: readonly (readonly [string, Pick<Printed, "text" | "compound">])[],
  joint: string,
): Printed {
  const all = comparisons.map(([name, right]) =>
    `${left.text} ${qualifyOperator(name)} ${enclose(right)}`
  );
  return { text: `(${all.join(joint)})`, spaced: left.spaced, compound: false };
}

function enclose({ text, compound }: Pick<Printed, "text" | "compound">): string {
  return compound ? `(${text})` : text;
}
