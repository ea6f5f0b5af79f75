import type { Field, Row } from "../api.ts";
import type { ColumnValue } from "../column_values.tsx";
import { writeExact, writeIndented } from "../../describe/reference/exact_json.ts";
import { isNumber } from "../../describe/reference/example_value.ts";

/** What was typed into the fields of a row that were touched. */
export type RowEdits = Readonly<Record<string, ColumnValue>>;

/** Prints a value as it is typed: texts as they are, arrays and JSON as JSON. */
export function printForEditing(value: unknown, field: Field): string {
  if (value === null || value === undefined) return "";
  const isJson = field.type === "json" || field.type === "jsonb";
  if (typeof value === "string" && !isJson) return value;
  return typeof value === "object" || isJson ? writeIndented(value) : String(value);
}

/** Puts what was typed among the edits; a field that has its value again counts as untouched. */
export function editField(
  edits: RowEdits,
  { field, row, typed }: {
    readonly field: Field;
    readonly row: Row;
    readonly typed: Omit<ColumnValue, "field">;
  },
): RowEdits {
  const { [field.name]: _, ...others } = edits;
  const value = row[field.name];
  const isSame = typed.isNull
    ? value === null
    : value !== null && typed.text === printForEditing(value, field);
  return isSame ? others : { ...others, [field.name]: { field: field.name, ...typed } };
}

/** Whether a new value differs from the present one; `19.9` and `19.90` are one number. */
export function isChanged(before: unknown, after: unknown, type: string): boolean {
  if (before === null || after === null) return before !== after;
  if (typeof before === "object" || typeof after === "object") {
    return writeExact(before) !== writeExact(after);
  }
  if (isNumber(type)) return trimNumber(String(before)) !== trimNumber(String(after));
  return String(before) !== String(after);
}

function trimNumber(text: string): string {
  return text.includes(".") ? text.trim().replace(/\.?0+$/, "") : text.trim();
}
