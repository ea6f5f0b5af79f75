import type { DescribedField, DescribedRow } from "./described.ts";

const NUMBERS = new Set(["int2", "int4", "int8", "numeric", "float4", "float8"]);
/** A JSON number that a double holds exactly. */
const PLAIN_NUMBER = /^-?(?:0|[1-9][0-9]{0,14})(?:\.[0-9]+)?$/;
const MAX_EXACT_CHARACTERS = 16;
const MAX_FILTER_CHARACTERS = 60;

/** Whether the values of a type are numbers. */
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

/** An example value of a type, as it is typed. */
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

/**
 * Gives a value of a column for an example: that of a row of the tenant, and where there is none or it
 * is NULL, one made up for the type.
 */
export function exampleValue(field: DescribedField, row: DescribedRow = {}): unknown {
  const { type, enum: labels } = field;
  const value = row[field.name];
  if (value !== undefined && value !== null) {
    // 64-bit integers and numeric come as strings, which keep every digit.
    return typeof value === "string" && isNumber(type) ? parseValue(value, type) : value;
  }
  if (labels?.[0] !== undefined) return labels[0];
  if (type === "bool") return true;
  if (type === "json" || type === "jsonb") return {};
  if (type.endsWith("[]")) return [];
  return parseValue(exampleOf(type), type) || "text";
}

/** Gives the values of columns for an example, as {@link exampleValue} does. */
export function exampleRow(fields: readonly DescribedField[], row?: DescribedRow): DescribedRow {
  return Object.fromEntries(fields.map((field) => [field.name, exampleValue(field, row)]));
}

/** Reports whether a filter may compare a column with the value that the row has there. */
export function isComparable(field: DescribedField, row: DescribedRow = {}): boolean {
  const value = row[field.name];
  const fits = value === undefined ||
    (value !== null && typeof value !== "object" && String(value).length <= MAX_FILTER_CHARACTERS);
  return field.operators.includes("eq") && fits;
}
