import { redactTokens } from "../text/redact.ts";
import { ApiError, type ErrorDetails } from "./api_error.ts";
import { MAX_QUOTED_CHARACTERS, MAX_REPORTED_ISSUES } from "./limits.ts";

/**
 * Where something is in the client's document: a key or a position, and the path of its container;
 * null is the top. A linked list costs a third of an array: every value has a path, and few paths are
 * ever printed.
 */
export type Path = { readonly holder: Path; readonly key: string | number } | null;

/** One problem of the client's document: where it is, what is wrong, and what was expected. */
export interface Issue {
  readonly path: Path;
  readonly message: string;
}

/** Returns the path of the value under a key, or at a position. */
export function under(holder: Path, key: string | number): Path {
  return { holder, key };
}

/** Returns the path from the top through these keys and positions. */
export function pathOf(...keys: readonly (string | number)[]): Path {
  return keys.reduce<Path>((holder, key) => under(holder, key), null);
}

function keysOf(path: Path): readonly (string | number)[] {
  return path === null ? [] : [...keysOf(path.holder), path.key];
}

const PLAIN_KEY = /^[A-Za-z0-9_]+$/;

/**
 * Prints a path as the client would write it: `filters.and[1].or[0].value[2]`; `body` for the top.
 * @see E5
 */
export function printPath(path: Path): string {
  if (path === null) return "body";
  let text = "";
  for (const key of keysOf(path)) {
    if (typeof key === "number") text += `[${key}]`;
    else if (key.length > MAX_QUOTED_CHARACTERS || !PLAIN_KEY.test(key)) {
      text += `[${quote(key)}]`;
    } else text += `${text === "" ? "" : "."}${redactTokens(key)}`;
  }
  return text;
}

/**
 * Prints the beginning of a message about a part of the body; empty for the body itself.
 * @see E5
 */
export function printAt(path: Path): string {
  return path === null ? "" : `${printPath(path)}: `;
}

/**
 * Prints a value of the client for a message: strings quoted, everything cut at 100 characters.
 * @see E6
 */
export function quote(value: unknown): string {
  const text = typeof value === "string" ? value : JSON.stringify(value) ?? String(value);
  // Ten times what is shown, so that a token is not cut, and missed, before it is redacted.
  const found = redactTokens(text.slice(0, MAX_QUOTED_CHARACTERS * 10));
  const characters = [...found.slice(0, MAX_QUOTED_CHARACTERS * 2 + 1)];
  const shown = characters.length > MAX_QUOTED_CHARACTERS
    ? characters.slice(0, MAX_QUOTED_CHARACTERS).join("") + "…"
    : found;
  return typeof value === "string" ? JSON.stringify(shown) : shown;
}

/**
 * Makes the 400 that reports the first five issues, in the order of the client's document.
 * @see E7, E8, E9
 */
export function rejectIssues(
  issues: readonly Issue[],
  document: unknown,
  details: ErrorDetails = {},
): ApiError {
  const order: Order = { document, ranks: new Map() };
  const ordered = issues.map((issue) => ({ issue, keys: keysOf(issue.path) }))
    .sort((a, b) => compareKeys(a.keys, b.keys, order));
  const reported = ordered.slice(0, MAX_REPORTED_ISSUES)
    .map(({ issue }) => `${printPath(issue.path)}: ${issue.message}`);
  return new ApiError(400, reported.join("; "), details);
}

/** Compares paths by their order in the document; `ranks` caches the keys of each object. */
function compareKeys(
  a: readonly (string | number)[],
  b: readonly (string | number)[],
  { document, ranks }: Order,
): number {
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

/** Position of a key in its container; a missing key comes last. */
function rank(key: string | number, container: unknown, ranks: Order["ranks"]): number {
  if (typeof key === "number") return key;
  if (typeof container !== "object" || container === null) return 0;
  let positions = ranks.get(container);
  if (positions === undefined) {
    positions = Object.keys(container);
    ranks.set(container, positions);
  }
  const position = positions.indexOf(key);
  return position < 0 ? Number.MAX_SAFE_INTEGER : position;
}
