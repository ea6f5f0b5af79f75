import type { PendingQuery, Row, Sql } from "postgres";

/** Nobody else has it, so nothing that came from outside can pass for a piece. */
const MARK = Object.freeze({});

/** One template and what stands between its texts: values, and other pieces. */
export interface Piece {
  readonly mark: typeof MARK;
  readonly strings: TemplateStringsArray;
  readonly values: readonly unknown[];
}

/** A statement without its pieces: the texts around its parameters. */
export interface FlatStatement {
  /** One more than parameters. */
  readonly texts: readonly string[];
  readonly parameters: readonly (string | null)[];
}

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
 * Puts the pieces of a statement together.
 * @throws {TypeError} when a parameter is neither string nor null: the driver would guess its type
 */
export function flatten(piece: Piece): FlatStatement {
  const texts = [""];
  const parameters: (string | null)[] = [];
  append(piece, texts, parameters);
  return { texts, parameters };
}

function append(
  { strings, values }: Piece,
  texts: string[],
  parameters: (string | null)[],
): void {
  texts[texts.length - 1] += strings[0]!;
  for (let index = 0; index < values.length; index++) {
    const value = values[index];
    if (value === null || typeof value === "string") {
      parameters.push(value);
      texts.push("");
    } else if (isPiece(value)) append(value, texts, parameters);
    else throw new TypeError(`a parameter must be string or null, not ${typeof value}`);
    texts[texts.length - 1] += strings[index + 1]!;
  }
}

/** Makes the driver's own fragments of the pieces, from the templates that it knows already. */
export function replay<R extends Row>(sql: Sql, { strings, values }: Piece): PendingQuery<R[]> {
  const parts = values.map((value) => isPiece(value) ? replay(sql, value) : value);
  return sql<R[]>(strings, ...parts as string[]);
}

function isPiece(value: unknown): value is Piece {
  return typeof value === "object" && value !== null && (value as Piece).mark === MARK;
}
