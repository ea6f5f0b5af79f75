import type { PendingQuery, Row } from "postgres";
import { MAX_PREPARED_SHAPES } from "../limits.ts";

/** The parts of a driver's query that its types leave out; fragments are queries too. */
export interface DriverQuery {
  readonly strings: readonly string[];
  readonly args: readonly unknown[];
  readonly options: { prepare?: boolean };
  /** The backend it was sent to; null as long as it was not. */
  readonly state: object | null;
  /** Asks for its end; `cancel()` keeps to itself what became of that. */
  readonly canceller: ((query: unknown) => Promise<void>) | null;
}

/** Decides which statements are prepared. */
export interface Shapes {
  /**
   * Marks a query as not to be prepared once the room is full, and checks its parameters.
   * @throws {TypeError} when a parameter is neither string nor null: the driver would guess its type.
   */
  readonly admit: <R extends Row>(query: PendingQuery<R[]>) => void;
}

/**
 * Makes the room for prepared statements: the first 256 distinct texts of the process. The driver
 * drops none, and 3,000 of them cost 85 MB a backend.
 * @see RELIABILITY 0.6
 */
export function openShapes(
  size = MAX_PREPARED_SHAPES,
  grown?: (shapes: number) => void,
): Shapes {
  const known = new Set<string>();
  return {
    admit(query) {
      const inside = query as unknown as DriverQuery;
      const text = printShape(inside);
      if (known.has(text)) return;
      if (known.size < size) {
        known.add(text);
        grown?.(known.size);
      } else inside.options.prepare = false;
    },
  };
}

/** Prints the text of a query with `$` for each parameter, its fragments filled in. */
function printShape(query: DriverQuery): string {
  let text = query.strings[0] ?? "";
  for (let index = 1; index < query.strings.length; index++) {
    text += printArgument(query.args[index - 1]) + query.strings[index];
  }
  return text;
}

function printArgument(argument: unknown): string {
  if (argument === null || typeof argument === "string") return "$";
  if (typeof argument === "object") {
    if (isFragment(argument)) return printShape(argument);
    if (Array.isArray(argument) && argument.length > 0 && argument.every(isFragment)) {
      return argument.map(printShape).join(" ");
    }
    // An identifier of the driver, already quoted.
    if ("value" in argument && Object.keys(argument).length === 1) return String(argument.value);
  }
  throw new TypeError(`a parameter must be string or null, not ${typeof argument}`);
}

function isFragment(value: unknown): value is DriverQuery {
  return typeof value === "object" && value !== null && "strings" in value;
}
