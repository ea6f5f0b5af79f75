import { inspect } from "node:util";

/** What an assertion throws, as `@std/assert` does. */
export class AssertionError extends Error {
  override readonly name = "AssertionError";
}

/** Shows a value to the reader of a failed test, in at most 20,000 characters. */
export function show(value: unknown): string {
  const text = inspect(value, { depth: 8, maxStringLength: 4000, breakLength: 100 });
  return text.length > 20_000 ? `${text.slice(0, 20_000)}…` : text;
}
