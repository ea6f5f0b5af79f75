import { inspect } from "node:util";

/** Shows a value to the reader of a failed test, in some lines at most. */
export function show(value: unknown): string {
  const text = inspect(value, { depth: 8, maxStringLength: 4000, breakLength: 100 });
  return text.length > 20_000 ? `${text.slice(0, 20_000)}…` : text;
}
