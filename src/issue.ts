import { ApiError, type ErrorDetails } from "./errors.ts";
import { MAX_ISSUES_TOLD, MAX_QUOTED_CHARACTERS } from "./limits.ts";

/** Where in the client's document something is: keys and array positions from the top. */
export type Path = readonly (string | number)[];

/** One finding about the client's document: where, and what is wrong, what was expected. */
export interface Issue {
  readonly path: Path;
  readonly message: string;
}

const PLAIN_KEY = /^[A-Za-z0-9_]+$/;

/**
 * Prints a path as the client would write it: `filters.and[1].or[0].value[2]`; `body` for the top.
 * @see DECISIONS 7
 */
export function printPath(path: Path): string {
  if (path.length === 0) return "body";
  let text = "";
  for (const step of path) {
    if (typeof step === "number") text += `[${step}]`;
    else if (step.length > MAX_QUOTED_CHARACTERS || !PLAIN_KEY.test(step)) {
      text += `[${quote(step)}]`;
    } else text += text === "" ? step : `.${step}`;
  }
  return text;
}

/**
 * Shows a value of the client in a message: strings quoted, anything cut at 100 characters.
 * @see DECISIONS 7
 */
export function quote(value: unknown): string {
  const text = typeof value === "string" ? value : JSON.stringify(value) ?? String(value);
  const characters = [...text.slice(0, MAX_QUOTED_CHARACTERS * 2 + 1)];
  const shown = characters.length > MAX_QUOTED_CHARACTERS
    ? characters.slice(0, MAX_QUOTED_CHARACTERS).join("") + "…"
    : text;
  return typeof value === "string" ? JSON.stringify(shown) : shown;
}

/**
 * Makes the 400 that tells the first five issues, in the order of the client's document.
 * @see DECISIONS 7
 */
export function refuseIssues(
  issues: readonly Issue[],
  document: unknown,
  details: ErrorDetails = {},
): ApiError {
  const order: Order = { document, ranks: new Map() };
  const ordered = [...issues].sort((a, b) => comparePaths(a.path, b.path, order));
  const told = ordered.slice(0, MAX_ISSUES_TOLD)
    .map((issue) => `${printPath(issue.path)}: ${issue.message}`);
  return new ApiError(400, told.join("; "), details);
}

/** Compares by place in the document; `ranks` remembers the keys of each object. */
function comparePaths(a: Path, b: Path, { document, ranks }: Order): number {
  let container = document;
  for (let depth = 0; depth < Math.min(a.length, b.length); depth++) {
    const [left, right] = [a[depth]!, b[depth]!];
    if (left !== right) return rank(left, container, ranks) - rank(right, container, ranks);
    container = (container as Record<string | number, unknown> | undefined)?.[left];
  }
  return a.length - b.length;
}

interface Order {
  readonly document: unknown;
  readonly ranks: Map<object, readonly string[]>;
}

/** Position of a step in its container; what is missing there comes last. */
function rank(step: string | number, container: unknown, ranks: Order["ranks"]): number {
  if (typeof step === "number") return step;
  if (typeof container !== "object" || container === null) return 0;
  let positions = ranks.get(container);
  if (positions === undefined) {
    positions = Object.keys(container);
    ranks.set(container, positions);
  }
  const position = positions.indexOf(step);
  return position < 0 ? Number.MAX_SAFE_INTEGER : position;
}
