import type { Field } from "../api.ts";
import { writeExact } from "../../describe/reference/exact_json.ts";
import type { ColumnValue } from "../column_values.tsx";

/** What is typed into the form of an update. */
export interface UpdateForm {
  readonly mode: "single" | "bulk";
  readonly filters: readonly ColumnValue[];
  readonly values: readonly ColumnValue[];
}

/**
 * Begins an update with the filter of the rows. Updates match by equality only: a filter that asks for
 * anything else is left out as a whole, since a part of it would match more rows.
 */
export function startForm(
  filter: unknown,
  { fields }: { readonly fields: readonly Field[] },
): UpdateForm & { readonly isLeftOut: boolean } {
  const equal = filter === undefined ? [] : readEqualities(filter, fields);
  return { mode: "bulk", filters: equal ?? [], values: [], isLeftOut: equal === undefined };
}

function readEqualities(
  filter: unknown,
  fields: readonly Field[],
): readonly ColumnValue[] | undefined {
  const { and } = filter as { readonly and?: unknown };
  if (!Array.isArray(and)) return undefined;
  const equal = and.map(({ field, op, value }): ColumnValue | undefined => {
    if (!fields.some(({ name }) => name === field)) return undefined;
    if (op === "is_null" || op === "eq" && value === null) return { field, text: "", isNull: true };
    return op === "eq"
      ? { field, text: typeof value === "string" ? value : writeExact(value), isNull: false }
      : undefined;
  });
  const names = new Set(equal.map((each) => each?.field));
  return equal.includes(undefined) || names.size < equal.length
    ? undefined
    : equal as readonly ColumnValue[];
}
