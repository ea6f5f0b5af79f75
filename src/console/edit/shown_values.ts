import { writeExact } from "../../describe/reference/exact_json.ts";
import type { ApiRequest, Field, Row } from "../api.ts";

/**
 * Adds to an update of one row the values that were shown of the columns that it changes: it then
 * matches only while they are still the same, and overwrites no change that was not seen. Columns of
 * types without equality, such as `json`, are compared by {@link isMoved}.
 * @see CL5
 */
export function addShownValues(
  request: ApiRequest,
  { row, fields }: { readonly row: Row; readonly fields: readonly Field[] },
): ApiRequest {
  const body = request.body as Readonly<Record<"filters" | "fields", Row>>;
  const shown = fields.filter(({ name, operators }) =>
    Object.hasOwn(body.fields, name) && operators.includes("eq") && row[name] !== undefined
  ).map((field) => [field.name, writeShown(row[field.name], field.type)]);
  return {
    ...request,
    body: { ...body, filters: { ...Object.fromEntries(shown), ...body.filters } },
  };
}

/** Whether a column that cannot be compared in a filter has another value than was shown. */
export function isMoved(
  request: ApiRequest,
  { row, now, fields }: {
    readonly row: Row;
    readonly now: Row | undefined;
    readonly fields: readonly Field[];
  },
): boolean {
  const body = request.body as Readonly<Record<"fields", Row>>;
  return fields.some(({ name, operators }) =>
    Object.hasOwn(body.fields, name) && !operators.includes("eq") &&
    writeExact(row[name]) !== writeExact(now?.[name])
  );
}

/** Writes a value as a filter takes it: JSON and arrays in the notation of Postgres. */
function writeShown(value: unknown, type: string): unknown {
  if (value === null) return null;
  if (type.endsWith("[]")) return writeArray(JSON.parse(writeExact(value)), value);
  if (type === "jsonb") return writeExact(value);
  return typeof value === "object" ? String(value) : value;
}

/** Numbers of an array that JavaScript would round are in its text only. */
function writeArray(items: unknown, exact: unknown): string {
  const text = writeExact(exact);
  if (/^[[\]\s\d.,eE+-]*$/.test(text)) return text.replaceAll("[", "{").replaceAll("]", "}");
  const write = (item: unknown): string => {
    if (item === null) return "NULL";
    if (Array.isArray(item)) return `{${item.map(write)}}`;
    const part = typeof item === "string" ? item : writeExact(item);
    return `"${part.replaceAll(/["\\]/g, "\\$&")}"`;
  };
  return write(items);
}
