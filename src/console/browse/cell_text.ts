import { writeExact, writeIndented } from "../../describe/reference/exact_json.ts";
import { isNumber } from "../../describe/reference/example_value.ts";

/** What a cell looks like. */
type CellKind = "number" | "text" | "json" | "none";

/** Longer texts are cut in a cell and whole in the inspector. */
const MAX_CELL_CHARACTERS = 400;

/** Prints a value on one line, as a cell shows it, and gives the classes of the cell. */
export function printCell(value: unknown, type: string): { readonly look: string; text: string } {
  const { kind, text } = printOnOneLine(value, type);
  return { look: kind === "none" && isNumber(type) ? "none number" : kind, text };
}

/** `NULL` and `empty` where there is none. */
function printOnOneLine(value: unknown, type: string): { readonly kind: CellKind; text: string } {
  if (value === undefined) return { kind: "none", text: "" };
  if (value === null) return { kind: "none", text: "NULL" };
  if (value === "") return { kind: "none", text: "empty" };
  if (typeof value !== "string") {
    const text = cut(writeExact(value));
    return { kind: isNumber(type) ? "number" : typeof value === "object" ? "json" : "text", text };
  }
  if (type === "json" || type === "jsonb") {
    return { kind: "json", text: cut(JSON.stringify(value)) };
  }
  return { kind: isNumber(type) ? "number" : "text", text: cut(value.replaceAll(/\s/g, " ")) };
}

function cut(text: string): string {
  return text.length > MAX_CELL_CHARACTERS ? `${text.slice(0, MAX_CELL_CHARACTERS)}…` : text;
}

/** Prints a value in full: JSON over several lines, every other value as it is. */
export function printWhole(value: unknown): string {
  if (value === undefined) return "";
  return typeof value === "string" ? value : writeIndented(value);
}

/** Prints a value in full, with a word where there is none. */
export function printValue(value: unknown): string {
  if (value === null || value === undefined) return "NULL";
  return value === "" ? "empty" : printWhole(value);
}
