import type { Column, SqlText } from "../../catalogue/catalogue.ts";
import type { Comparison } from "../plan/predicate.ts";
import type { Fragment, Sql } from "../../database/postgres/driver.ts";
import { join, literal } from "./fragment.ts";

/** What decides which operator compares a column: the schema of the operators of its type. */
export type Compared = Pick<Column, "operators">;

/**
 * Compiles a comparison by the operators of the column's own type, whichever schema its extension is
 * in. `qualify` adds `pg_catalog` to all others.
 * @see TE25
 */
export function compileComparison(
  sql: Sql,
  comparison: Comparison,
  { column: { operators }, left, right }: ComparedKey,
): Fragment {
  if (operators !== undefined) {
    return sql`${left} ${compileName(sql, operators, comparison)} ${right}`;
  }
  switch (comparison) {
    case "=":
      return sql`${left} = ${right}`;
    case "<>":
      return sql`${left} <> ${right}`;
    case "<":
      return sql`${left} < ${right}`;
    case "<=":
      return sql`${left} <= ${right}`;
    case ">":
      return sql`${left} > ${right}`;
    case ">=":
      return sql`${left} >= ${right}`;
  }
}

/** Compiles the name of an operator. */
export function compileName(sql: Sql, schema: SqlText, comparison: Comparison): Fragment {
  return literal(sql, `operator(${schema}.${comparison})` as SqlText);
}

/** A column, as it is compared with a value. */
export interface ComparedKey {
  readonly column: Compared;
  readonly left: Fragment;
  readonly right: Fragment;
}

/**
 * Compiles the comparison of two rows, as a sort compares them. A comparison in one expression takes
 * all operators from one schema, so keys of extensions are compared one by one.
 */
export function compileRowComparison(
  sql: Sql,
  comparison: "<" | ">",
  keys: readonly ComparedKey[],
): Fragment {
  const [first, ...others] = keys as [ComparedKey, ...ComparedKey[]];
  const further = compileComparison(sql, comparison, first);
  if (others.length === 0) return further;
  if (keys.some((key) => key.column.operators !== undefined)) {
    const same = compileComparison(sql, "=", first);
    const rest = compileRowComparison(sql, comparison, others);
    return sql`(${further} or (${same} and ${rest}))`;
  }
  const operands = join(sql, ",", keys.map((key) => key.left));
  const values = join(sql, ",", keys.map((key) => key.right));
  return comparison === "<" ? sql`(${operands}) < (${values})` : sql`(${operands}) > (${values})`;
}
