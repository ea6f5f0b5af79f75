import type { Table } from "../catalogue/catalogue.ts";
import type { Takes } from "../request/body_parts.ts";

/** Tells what a column of a table takes; undefined where there is no such column. */
export function takesOf(table: Table, name: string): Takes | undefined {
  const column = table.columns.get(name);
  if (column === undefined) return undefined;
  if (column.kind === "json") return "json";
  if (column.kind !== "array" || column.elementKind === undefined) return "scalars";
  return column.elementKind === "json" ? "lists of json" : "lists";
}
