import { NAME_PATTERN } from "../basics/errors/limits.ts";
import type { Filter, Group } from "../request/filters.ts";
import type { Column, RowFilter } from "./catalogue.ts";
import { hasOperator } from "./operators.ts";
import type { FoundColumn } from "./introspection.ts";
import type { NamedTable } from "./table_names.ts";

/** The parts that a row filter is built from. */
interface RowFilterParts {
  /** The filter of the policy. */
  readonly group: Group | undefined;
  /** The columns that clients see. */
  readonly columns: ReadonlyMap<string, Column>;
  readonly build: (column: FoundColumn) => Column;
  readonly warnings: string[];
}

/**
 * Builds the row filter of a table. It may name columns that are hidden from clients. `wrong`, with a
 * warning, if it names a column that does not exist or does not support the operator: then the table
 * stays closed.
 * @see T64, T65
 */
export function buildRowFilter(
  found: NamedTable,
  { group, columns, build, warnings }: RowFilterParts,
): RowFilter | "wrong" | undefined {
  if (group === undefined) return undefined;
  const all = new Map(columns);
  for (const column of found.columns) {
    const isNew = column.select && NAME_PATTERN.test(column.name) && !all.has(column.name);
    if (isNew) all.set(column.name, build(column));
  }
  const wrong = findWrong(group, all);
  if (wrong === undefined) return { group, columns: all };
  warnings.push(`policy: tables.${found.policyKey}.only: ${wrong}, not exposed`);
  return "wrong";
}

function findWrong(filter: Filter, columns: ReadonlyMap<string, Column>): string | undefined {
  if (filter.kind === "group") {
    return filter.items.map((item) => findWrong(item, columns)).find((wrong) =>
      wrong !== undefined
    );
  }
  const column = columns.get(filter.field);
  if (column === undefined) return `there is no column "${filter.field}" that the role may read`;
  const isNull = (filter.op === "eq" || filter.op === "neq") && filter.value === null;
  return isNull || hasOperator(column, filter.op)
    ? undefined
    : `"${filter.op}" does not work on column "${filter.field}" of type ${column.type}`;
}
