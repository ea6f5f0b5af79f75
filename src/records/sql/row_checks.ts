import type { Column, SqlText, Tenancy } from "../../catalogue/catalogue.ts";
import { tenantFitsColumns } from "../../catalogue/tenant_column.ts";
import type { Assignment } from "../plan/assignment.ts";
import { planRowFilter } from "../plan/row_filter.ts";
import { namesParent, refersBy, type Scope } from "../plan/scope.ts";
import type { UpdatePlan } from "../plan/update_plan.ts";
import type { Fragment, Sql } from "../../database/postgres/driver.ts";
import { compileColumn, join, literal } from "./fragment.ts";
import { compilePredicate, compileValue } from "./predicate.ts";
import { compileBelongs } from "./scope.ts";

/**
 * SQLSTATE of an update after which a row would refer to a row that is not the tenant's; nothing was
 * written.
 * @see T61, T83
 */
export const FOREIGN_PARENT = "2201G";

/**
 * SQLSTATE of an update after which a row would not match the row filter; nothing was written.
 * @see T66
 */
export const OUTSIDE_FILTER = "2201E";

/** Compiles what raises {@link FOREIGN_PARENT}. */
export function compileForeignParent(sql: Sql): Fragment {
  return sql`width_bucket(1::float8, 1, 1, pg_catalog.pg_backend_pid()) > 0`;
}

/** The new values of an update, and what they are checked against. */
export interface NewValues extends Pick<UpdatePlan, "table" | "assignments" | "scope"> {
  /** Compiles a new value; left out: it is a parameter of its own. */
  readonly compileNew?: (assignment: Assignment, cast: SqlText) => Fragment;
}

/** Compiles a new value with a cast; left out: the one without a length. */
export function compileNewValue(
  sql: Sql,
  { compileNew }: Pick<NewValues, "compileNew">,
  { assignment, cast = assignment.column.cast }: {
    readonly assignment: Assignment;
    readonly cast?: SqlText;
  },
): Fragment {
  const { column, value } = assignment;
  return compileNew?.(assignment, cast) ?? compileValue(sql, value, { column, cast });
}

/** A condition that a row must meet with its new values. */
export interface RowCheck {
  /** The assignment in which it is checked. */
  readonly assignment: Assignment;
  readonly holds: Fragment;
  /**
   * An expression that raises an SQLSTATE which nothing else in the statement can raise. Its argument
   * is not a constant, so that Postgres does not evaluate it while planning.
   */
  readonly refusal: Fragment;
}

/**
 * Compiles the conditions on updated rows: they still belong to the tenant, and clients can still
 * reach them. They are checked in the SET list, so for exactly the rows that are written, in their
 * current version.
 */
export function compileRowChecks(sql: Sql, plan: NewValues): RowCheck[] {
  const { table, assignments, scope } = plan;
  const checks: RowCheck[] = [];
  const refusal = compileForeignParent(sql);
  const moving = assignments.find(({ column }) => namesParent(scope, column));
  if (moving !== undefined) {
    checks.push({ assignment: moving, holds: compileNewParent(sql, plan), refusal });
  }
  for (const reference of table.references) {
    const assignment = assignments.find(({ column }) => refersBy(reference, column));
    if (assignment === undefined) continue;
    const own = (from: SqlText) => compileOwn(sql, plan, from);
    checks.push({ assignment, holds: compileReference(sql, scope, { reference, own }), refusal });
  }
  const filter = table.only && planRowFilter(table);
  if (filter === undefined || !("predicate" in filter)) return checks;
  const leaving = assignments.find(({ column }) => filter.columns.has(column));
  if (leaving !== undefined) {
    checks.push({
      assignment: leaving,
      holds: compileNewRow(sql, plan, filter),
      refusal: sql`ln(0::float8 * pg_catalog.pg_backend_pid()) > 0`,
    });
  }
  return checks;
}

/**
 * Compiles whether the row that an updated row will refer to belongs to the tenant. It is locked, so
 * that this stays true until the update is committed.
 */
function compileNewParent(sql: Sql, plan: NewValues): Fragment {
  const own = (from: SqlText) => compileOwn(sql, plan, from);
  return compileBelongs(sql, plan.scope, { locks: true, own });
}

/** A foreign key, and how the columns of the row that refers by it are compiled. */
interface Referring {
  readonly reference: Tenancy;
  readonly own: (from: SqlText) => Fragment;
}

/**
 * Compiles whether a row refers to nothing, or to a row of the same tenant. That row is not locked:
 * Postgres keeps it from going away, and the role may not lock what it may only read.
 */
export function compileReference(
  sql: Sql,
  scope: Scope,
  { reference, own }: Referring,
): Fragment {
  const absent = reference.via[0]!.pairs.map(({ from }) => sql`${own(from)} is null`);
  if (!tenantFitsColumns(scope.tenant, reference.columns)) return join(sql, "or", absent);
  const tenantScope = { ...scope, kind: "tenant" as const, tenancy: reference };
  const belongs = compileBelongs(sql, tenantScope, { locks: false, own });
  return join(sql, "or", [...absent, belongs]);
}

/** Compiles whether the new values match the row filter. They are given the alias of the row itself. */
function compileNewRow(
  sql: Sql,
  plan: NewValues,
  { predicate, columns }: Extract<ReturnType<typeof planRowFilter>, { predicate: unknown }>,
): Fragment {
  const values = [...columns].map(({ identifier }: Column) =>
    sql`${compileOwn(sql, plan, identifier)} ${literal(sql, identifier)}`
  );
  return sql`
    (
      select ${compilePredicate(sql, predicate)}
      from (select ${join(sql, ",", values)}) "$row"
    )`;
}

/** Compiles the value that a column will have: the new one, or the present one. */
function compileOwn(sql: Sql, plan: NewValues, identifier: SqlText): Fragment {
  const assignment = plan.assignments.find(({ column }) => column.identifier === identifier);
  if (assignment === undefined) return compileColumn(sql, { identifier });
  return compileNewValue(sql, plan, { assignment, cast: assignment.column.storedCast });
}
