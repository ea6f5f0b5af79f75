import type { Random } from "./random.ts";

/** Prints an amount in cents as numeric takes it, never through a double. */
export function printCents(cents: number): string {
  return `${Math.floor(cents / 100)}.${String(cents % 100).padStart(2, "0")}`;
}

/** Prints a time with microseconds, of which a random source makes all below the second. */
export function printTime(ms: number, random: Random): string {
  const micros = String(random.integer(0, 999_999)).padStart(6, "0");
  return `${new Date(ms).toISOString().slice(0, 19)}.${micros}Z`;
}
