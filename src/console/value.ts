import { type Field, isNumber } from "./field.ts";

/** A JSON number that survives a double as it is written. */
const PLAIN_NUMBER = /^-?(?:0|[1-9][0-9]{0,14})(?:\.[0-9]+)?$/;
const MAX_EXACT_CHARACTERS = 16;

/**
 * Gives what a person typed as the JSON value of a column: a number where the column holds numbers
 * and a double keeps it exactly, a boolean where it holds those, else the text. What does not fit is
 * sent as it is: the server names its place.
 */
export function writeValue(text: string, type: string | undefined): unknown {
  if (type === undefined) return text;
  const trimmed = text.trim();
  if (isNumber(type)) {
    const plain = PLAIN_NUMBER.test(trimmed) && trimmed.length <= MAX_EXACT_CHARACTERS;
    return plain ? Number(trimmed) : trimmed;
  }
  if (type === "bool" && (trimmed === "true" || trimmed === "false")) return trimmed === "true";
  return text;
}

/** Gives a new value for a column; arrays and JSON are typed as JSON. @see U8, U9, U10 */
export function writeNewValue(text: string, field: Field | undefined): unknown {
  const type = field?.type;
  if (type === "json" || type === "jsonb" || type?.endsWith("[]")) {
    try {
      return JSON.parse(text);
    } catch {
      return text;
    }
  }
  return writeValue(text, type);
}

/** An example of what a column of the type takes, for an empty input. */
export function exampleOf(type: string): string {
  if (type.endsWith("[]")) return "{a,b}";
  if (isNumber(type)) return type.startsWith("int") ? "12" : "19.90";
  return EXAMPLES[type] ?? "";
}

const EXAMPLES: Readonly<Record<string, string>> = {
  date: "2026-01-31",
  time: "09:30:00",
  timestamp: "2026-01-31T09:30:00",
  timestamptz: "2026-01-31T09:30:00Z",
  interval: "P1DT2H",
  uuid: "00000000-0000-0000-0000-000000000000",
};
