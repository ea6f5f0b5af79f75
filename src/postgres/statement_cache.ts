import type { PendingQuery, Row, Sql } from "./driver.ts";
import { MAX_PREPARED_STATEMENTS } from "../errors/limits.ts";
import type { Compile } from "./database.ts";
import { openRadixTree } from "./radix_tree.ts";
import {
  flatten,
  type Piece,
  recordStatement,
  replay,
  type Stop,
  walk,
} from "./record_statement.ts";

/** The parts of a driver's query that its types leave out. */
export interface DriverQuery {
  readonly options: { prepare?: boolean };
  /** The backend it was sent to; null as long as it was not. */
  readonly state: object | null;
  /** What it was made of; it needs none of it once it is answered. */
  strings: unknown;
  args: unknown;
  string: unknown;
  parameters: unknown;
  /** What the session keeps where it prepares the statement. */
  readonly statement: { string: string } | null;
}

/** Makes the driver's queries, and decides which of them are prepared. */
export interface Shapes {
  /**
   * Compiles a statement into one query of the driver, marked as not to be prepared once the room is
   * full.
   * @throws {TypeError} when a parameter is neither string nor null: the driver would guess its type.
   */
  readonly compile: <R extends Row>(sql: Sql, compile: Compile<R>) => PendingQuery<R[]>;
}

const WAYS_TO_EACH = 2;

/**
 * Makes the room for prepared statements: the first 256 distinct texts of the process. The driver
 * drops none, and 3,000 of them cost 85 MB a backend.
 *
 * Each of them has a template of its own, since the driver also remembers every template; a statement
 * beyond the room goes out in the fragments that it was compiled of. A known one is found by the
 * templates that it was compiled of, so its text is put together once.
 * @see P12
 */
export function openShapes(
  size = MAX_PREPARED_STATEMENTS,
  grown?: (shapes: number) => void,
): Shapes {
  const known = new Map<string, TemplateStringsArray>();
  const ways = openRadixTree<Stop, TemplateStringsArray>();
  let kept = 0;

  function makeTemplate(piece: Piece): TemplateStringsArray | undefined {
    const texts = flatten(piece);
    // No name of Postgres holds U+0000, so no two texts run into each other.
    const shape = texts.join("\0");
    const found = known.get(shape);
    if (found !== undefined || known.size >= size) return found;
    const template = Object.assign([...texts], { raw: texts });
    known.set(shape, template);
    grown?.(known.size);
    return template;
  }

  function findTemplate(
    piece: Piece,
    parameters: (string | null)[],
  ): TemplateStringsArray | undefined {
    const stops: Stop[] = [];
    walk(piece, parameters, stops);
    const found = ways.get(stops);
    if (found !== undefined) return found;
    const template = makeTemplate(piece);
    // Mostly there is one way to each, and never are there many.
    if (template !== undefined && kept++ < WAYS_TO_EACH * size) ways.set(stops, template);
    return template;
  }

  return {
    compile<R extends Row>(sql: Sql, compile: Compile<R>) {
      const piece = recordStatement(compile);
      const parameters: (string | null)[] = [];
      const template = findTemplate(piece, parameters);
      if (template !== undefined) return sql<R[]>(template, ...parameters);
      const query = replay<R>(sql, piece);
      (query as unknown as DriverQuery).options.prepare = false;
      return query;
    },
  };
}
