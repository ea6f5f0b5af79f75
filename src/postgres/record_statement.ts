import type { PendingQuery, Row, Sql } from "./driver.ts";

/** Nobody else has it, so nothing that came from outside can pass for a piece. */
const MARK = Object.freeze({});

/** One template and what stands between its texts: values, and other pieces. */
export interface Piece {
  readonly mark: typeof MARK;
  readonly strings: TemplateStringsArray;
  readonly values: readonly unknown[];
}

/** In a walk through a statement: a template begins, or a parameter stands here. */
export type Stop = TemplateStringsArray | typeof PARAMETER;

/** Stands for every parameter. */
export const PARAMETER: unique symbol = Symbol();

/**
 * Stands in for the driver's tag while a statement is compiled, and only keeps what it is given. The
 * driver makes a promise of every fragment: for the 40 of a look-up by key that took 110 µs and two
 * thirds of the garbage of a request.
 * @see docs/decisions/0181-statements-are-recorded.md
 */
const RECORD = ((strings: TemplateStringsArray, ...values: unknown[]): Piece => {
  return { mark: MARK, strings, values };
}) as unknown as Sql;

/** Compiles a statement without the driver. */
export function recordStatement<R extends Row>(compile: (sql: Sql) => PendingQuery<R[]>): Piece {
  return compile(RECORD) as unknown as Piece;
}

/**
 * Walks through a statement in the order of its text; collects its parameters and its stops. Two
 * statements with the same stops have the same text.
 * @throws {TypeError} when a parameter is neither string nor null: the driver would guess its type
 */
export function walk(
  { strings, values }: Piece,
  parameters: (string | null)[],
  stops: Stop[],
): void {
  stops.push(strings);
  for (const value of values) {
    if (value === null || typeof value === "string") {
      parameters.push(value);
      stops.push(PARAMETER);
    } else if (isPiece(value)) walk(value, parameters, stops);
    else throw new TypeError(`a parameter must be string or null, not ${typeof value}`);
  }
}

/**
 * Gives the texts around a statement's parameters, one more than there are parameters, without the
 * white space that lays them out for readers.
 */
export function flatten(piece: Piece): readonly string[] {
  const texts = [""];
  append(piece, texts);
  texts[0] = texts[0]!.trimStart();
  texts[texts.length - 1] = texts.at(-1)!.trimEnd();
  return texts.map(collapseSpace);
}

function append({ strings, values }: Piece, texts: string[]): void {
  texts[texts.length - 1] += strings[0]!;
  values.forEach((value, index) => {
    if (isPiece(value)) append(value, texts);
    else texts.push("");
    texts[texts.length - 1] += strings[index + 1]!;
  });
}

/** Quoted names and strings, which stay as they are, and white space, by what stands beside it. */
const QUOTED_OR_SPACE = /("[^"]*"|'[^']*')|(\()\s+|(\s+(?=[),]))|\s+/g;

/**
 * Collapses the white space of SQL outside of quotes, so that a statement that is written over several
 * lines costs neither the network nor the parser of Postgres more than one that is not. The text must
 * have no comments.
 */
export function collapseSpace(text: string): string {
  return text.replace(
    QUOTED_OR_SPACE,
    (_all, quoted?: string, open?: string, space?: string) =>
      quoted ?? open ?? (space === undefined ? " " : ""),
  );
}

/** The templates of statements without a template of their own, each collapsed once. */
const COLLAPSED = new WeakMap<TemplateStringsArray, TemplateStringsArray>();

/** Makes the driver's own fragments of the pieces, from the templates that it knows already. */
export function replay<R extends Row>(sql: Sql, { strings, values }: Piece): PendingQuery<R[]> {
  const parts = values.map((value) => isPiece(value) ? replay(sql, value) : value);
  return sql<R[]>(collapseTemplate(strings), ...parts as string[]);
}

function collapseTemplate(strings: TemplateStringsArray): TemplateStringsArray {
  const found = COLLAPSED.get(strings);
  if (found !== undefined) return found;
  const texts = strings.map(collapseSpace);
  const template = Object.assign(texts, { raw: texts });
  COLLAPSED.set(strings, template);
  return template;
}

function isPiece(value: unknown): value is Piece {
  return typeof value === "object" && value !== null && (value as Piece).mark === MARK;
}
