import { type Operator, OPERATORS } from "../request/operators.ts";
import type { Column } from "./catalogue.ts";

/** Reports whether the type of a column has an operator. @see T50 */
export function hasOperator(column: Column, op: Operator): boolean {
  const { needs } = OPERATORS[op];
  switch (needs) {
    case "nothing":
      return true;
    case "text":
      return column.kind === "text";
    case "letters":
      // Postgres has no ILIKE for nondeterministic collations.
      return column.kind === "text" && column.deterministic;
    case "container":
      // The elements of an array need an order, since GIN compares them by it.
      return column.container !== undefined &&
        (column.kind !== "array" || column.equality && column.order);
    default:
      return column[needs];
  }
}
