import type { Field } from "./api.ts";

const NUMBERS = new Set(["int2", "int4", "int8", "numeric", "float4", "float8"]);
/** A JSON number that a double holds exactly. */
const PLAIN_NUMBER = /^-?(?:0|[1-9][0-9]{0,14})(?:\.[0-9]+)?$/;
const MAX_EXACT_CHARACTERS = 16;

/** Whether the values of a type are numbers, which are aligned to the right. */
export function isNumber(type: string): boolean {
  return NUMBERS.has(type);
}

/**
 * Converts typed text to the JSON value of a column: a number if the column holds numbers and a
 * double holds this one exactly, a boolean if it holds booleans, else the text. A value that does not
 * fit is sent as it is, and the server says so.
 */
export function parseValue(text: string, type: string | undefined): unknown {
  if (type === undefined) return text;
  const trimmed = text.trim();
  if (isNumber(type)) {
    const plain = PLAIN_NUMBER.test(trimmed) && trimmed.length <= MAX_EXACT_CHARACTERS;
    return plain ? Number(trimmed) : trimmed;
  }
  if (type === "bool" && (trimmed === "true" || trimmed === "false")) return trimmed === "true";
  return text;
}

/** Converts typed text to a new value for a column; arrays and JSON are typed as JSON. @see U8, U9, U10 */
export function parseNewValue(text: string, field: Field | undefined): unknown {
  const type = field?.type;
  if (type === "json" || type === "jsonb" || type?.endsWith("[]")) {
    try {
      return JSON.parse(text);
    } catch {
      return text;
    }
  }
  return parseValue(text, type);
}

/** An example value of a type, shown in an empty input. */
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
