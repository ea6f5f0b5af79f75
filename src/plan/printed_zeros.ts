const EXPONENTS = /\de([+-]?\d{1,9})/gi;
/** More zeros than any `numeric` has. */
const MOST_ZEROS = 150_000;
/** Zeros that every value may have, and for each character of its text. */
const FREE_ZEROS = 1000;
const ZEROS_PER_CHARACTER = 1;

/**
 * Tells whether numbers would print far longer than they are written: `1e131071` is stored in ten
 * bytes and printed in 131,072, so that a list of 90,000 of them took gigabytes to read.
 * @see docs/decisions/0203-memory-of-a-page.md
 */
export function printsTooLong(text: string): boolean {
  let zeros = 0;
  for (const [, exponent] of text.matchAll(EXPONENTS)) {
    zeros += Math.min(Math.abs(Number(exponent)), MOST_ZEROS);
  }
  return zeros > FREE_ZEROS + ZEROS_PER_CHARACTER * text.length;
}
