type WholeKind = "int2" | "int4" | "int8";

const LIMITS: Readonly<Record<WholeKind, bigint>> = {
  int2: 32768n,
  int4: 2147483648n,
  int8: 9223372036854775808n,
};

// White space as C defines it: Postgres rejects the other characters of \s.
const WHOLE = /^[ \t-\r]*([+-]?)(\d{1,40})[ \t-\r]*$/;
// The fraction needs its dot: with \d+\.?\d* a million digits and a letter would take hours.
const DECIMAL = /^[ \t-\r]*[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d{1,9})?[ \t-\r]*$/i;
const NOT_FINITE = /^[ \t-\r]*([+-]?inf(inity)?|nan)[ \t-\r]*$/i;

/**
 * Reports whether a text is a whole number within the range of its type. Hexadecimal and `1_000`,
 * which Postgres reads from version 16 on, are rejected on every version.
 */
export function isWholeNumber(text: string, kind: WholeKind): boolean {
  const match = WHOLE.exec(text);
  if (match === null) return false;
  const magnitude = BigInt(match[2]!);
  return match[1] === "-" ? magnitude <= LIMITS[kind] : magnitude < LIMITS[kind];
}

/** Reports whether a text is a decimal number, infinity or NaN. Postgres checks the range. */
export function isDecimal(text: string): boolean {
  return DECIMAL.test(text) || NOT_FINITE.test(text);
}

const EXPONENTS = /\de([+-]?\d{1,9})/gi;
/** More zeros than any `numeric` has. */
const MAX_ZEROS = 150_000;

/**
 * Counts the zeros that the exponents in a text add. `1e131071` is stored in ten bytes and printed in
 * 131,072; a list of 90,000 of them took gigabytes to read.
 */
export function countZeros(text: string): number {
  let zeros = 0;
  for (const [, exponent] of text.matchAll(EXPONENTS)) {
    zeros += Math.min(Math.abs(Number(exponent)), MAX_ZEROS);
  }
  return zeros;
}
