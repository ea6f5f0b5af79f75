import type { Judgement } from "./value.ts";

type WholeKind = "int2" | "int4" | "int8";
type DecimalKind = "float4" | "float8" | "numeric";

const LIMITS: Readonly<Record<WholeKind, bigint>> = {
  int2: 32768n,
  int4: 2147483648n,
  int8: 9223372036854775808n,
};

const WHOLE = /^\s*([+-]?)(\d{1,40})\s*$/;
/** Hexadecimal, octal, binary and `1_000`, which Postgres reads from version 16 on. */
const NEWER_WHOLE = /^\s*[+-]?(0[xob][0-9a-f_]{1,80}|\d[\d_]{0,80})\s*$/i;
const DECIMAL = /^\s*[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d{1,9})?\s*$/i;
const NOT_FINITE = /^\s*([+-]?inf(inity)?|nan)\s*$/i;
/** Digits that fit any of the decimal types whatever they are. */
const SMALL_DECIMAL = /^-?\d{1,30}(\.\d{1,30})?$/;

/** Checks the text of a whole number against the range of its type; undefined when it does not fit. */
export function judgeWholeNumber(text: string, kind: WholeKind): Judgement | undefined {
  const match = WHOLE.exec(text);
  if (match === null) return NEWER_WHOLE.test(text) ? { text, decided: false } : undefined;
  const magnitude = BigInt(match[2]!);
  const limit = LIMITS[kind];
  const fits = match[1] === "-" ? magnitude <= limit : magnitude < limit;
  return fits ? { text, decided: true } : undefined;
}

/** Checks the text of a decimal number; undefined when it is none. Range is Postgres's to judge. */
export function judgeDecimal(text: string, kind: DecimalKind): Judgement | undefined {
  if (SMALL_DECIMAL.test(text)) return { text, decided: true };
  if (DECIMAL.test(text) || NEWER_WHOLE.test(text)) return { text, decided: false };
  if (!NOT_FINITE.test(text)) return undefined;
  return { text, decided: kind !== "numeric" };
}
