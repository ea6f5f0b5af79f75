import { ownColumn } from "../plan/scope.ts";
import type { UpdatePlan } from "../plan/update_plan.ts";
import type { Fragment, Sql } from "../../database/postgres/driver.ts";
import { compileColumn, join, literal } from "./fragment.ts";
import { compileNewValue, compileRowChecks, type NewValues } from "./row_checks.ts";

/** Compiles the SET list. No cast has a length: an explicit cast to `varchar(n)` cuts silently. */
export function compileSet(
  sql: Sql,
  plan: NewValues,
): Fragment {
  const checks = compileRowChecks(sql, plan);
  return join(
    sql,
    ",",
    plan.assignments.map((assignment) => {
      const { column } = assignment;
      const text = compileNewValue(sql, plan, { assignment });
      const checked = checks.filter((check) => check.assignment === assignment)
        .reduce(
          (value, { holds, refusal }) =>
            sql`case when ${holds} then ${value} when ${refusal} then null end`,
          text,
        );
      return sql`${literal(sql, column.identifier)} = ${checked}`;
    }),
  );
}

/**
 * Compiles "the update would change a stored value", compared by bytes: this is right for every type,
 * and NULL equals NULL. `is distinct from` fails on json, xml and point, and overlooks changes of
 * box, interval and citext. It calls the function behind the operator `*<>`, because engines that
 * forward statements to shards lose the operator. Both rows end with the same column, because such an
 * engine would try to compute a row of only parameters itself, and fails, as that row has no type.
 * A delete changes every row that it finds.
 * @see U42, P2, P3, M15
 */
export function compileChangedColumns(
  sql: Sql,
  { assignments, scope, removal, compileNew }:
    & Pick<UpdatePlan, "assignments" | "scope" | "removal">
    & Pick<NewValues, "compileNew">,
): Fragment {
  if (removal !== undefined) return sql`true`;
  const stored = assignments.map(({ column }) => {
    const value = sql`${compileColumn(sql, column)}::${literal(sql, column.cast)}`;
    return column.padded ? castToText(sql, value, column.kind) : value;
  });
  const sent = assignments.map((assignment) => {
    const { column } = assignment;
    const cast = column.padded ? column.cast : column.storedCast;
    const text = compileNewValue(sql, { compileNew }, { assignment, cast });
    return column.padded ? castToText(sql, text, column.kind) : text;
  });
  const same = compileColumn(sql, ownColumn(scope));
  return sql`record_image_ne(row(${join(sql, ",", [...stored, same])}), row(${
    join(sql, ",", [...sent, same])
  }))`;
}

/** Casts to text, which drops the padding of `char(n)`: it is not part of the value. */
function castToText(sql: Sql, value: Fragment, kind: string): Fragment {
  return kind === "array" ? sql`${value}::text[]` : sql`${value}::text`;
}
