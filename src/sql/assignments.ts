import type { SqlText } from "../catalogue/catalogue.ts";
import type { Assignment } from "../plan/assignment.ts";
import { namesParent } from "../plan/scope.ts";
import type { UpdatePlan } from "../plan/update_plan.ts";
import type { Fragment, Sql } from "../postgres/driver.ts";
import { compileColumn, join, literal } from "./fragment.ts";
import { compileValue } from "./predicate.ts";
import { compileBelongs } from "./scope.ts";

/**
 * SQLSTATE of an update whose row would refer to one that is not the tenant's: nothing was written.
 * @see T61
 */
export const FOREIGN_PARENT = "2201G";

/** Compiles the SET list. No cast has a length: an explicit cast to `varchar(n)` cuts silently. */
export function compileSet(
  sql: Sql,
  { assignments, scope }: Pick<UpdatePlan, "assignments" | "scope">,
): Fragment {
  const moving = assignments.find(({ column }) => namesParent(scope, column));
  return join(
    sql,
    ",",
    assignments.map((assignment) => {
      const { column, value } = assignment;
      const text = compileValue(sql, value, { column });
      const name = literal(sql, column.identifier);
      if (assignment !== moving) return sql`${name} = ${text}`;
      return sql`
        ${name} = case
          when ${compileNewParent(sql, { assignments, scope })} then ${text}
          when ${compileRefusal(sql)} then null
        end`;
    }),
  );
}

/**
 * Compiles whether the row that an updated row will refer to is one of the tenant's. It is locked, so
 * that it stays one until the update is committed.
 */
function compileNewParent(
  sql: Sql,
  { assignments, scope }: Pick<UpdatePlan, "assignments" | "scope">,
): Fragment {
  const own = (from: SqlText) => {
    const assignment = assignments.find(({ column }) => column.identifier === from);
    if (assignment === undefined) return compileColumn(sql, { identifier: from });
    const { column, value } = assignment;
    return compileValue(sql, value, { column, cast: column.storedCast });
  };
  return compileBelongs(sql, scope, { locks: true, own });
}

/**
 * Compiles a condition that fails with {@link FOREIGN_PARENT}, which nothing else of a statement does.
 * The last argument is no constant, so that Postgres does not compute it while it plans.
 */
function compileRefusal(sql: Sql): Fragment {
  return sql`width_bucket(1::float8, 1, 1, pg_catalog.pg_backend_pid()) > 0`;
}

/**
 * Compiles "the update would change a stored value", compared by bytes: right for every type, and
 * NULL equals NULL. `is distinct from` fails on json, xml and point, and overlooks changes of box,
 * interval and citext. The function behind the operator `*<>`, because engines that send statements
 * on to shards lose the operator.
 * @see U42, P2, P3
 */
export function compileChanges(sql: Sql, assignments: readonly Assignment[]): Fragment {
  const stored = assignments.map(({ column }) => {
    const value = sql`${compileColumn(sql, column)}::${literal(sql, column.cast)}`;
    return column.padded ? castToText(sql, value, column.kind) : value;
  });
  const sent = assignments.map(({ column, value }) => {
    const cast = column.padded ? column.cast : column.storedCast;
    const text = compileValue(sql, value, { column, cast });
    return column.padded ? castToText(sql, text, column.kind) : text;
  });
  return sql`record_image_ne(row(${join(sql, ",", stored)}), row(${join(sql, ",", sent)}))`;
}

/** Text drops the padding of `char(n)`, which is no part of the value. */
function castToText(sql: Sql, value: Fragment, kind: string): Fragment {
  return kind === "array" ? sql`${value}::text[]` : sql`${value}::text`;
}
