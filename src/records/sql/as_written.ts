import type { Column, SqlText, Table, Tenancy } from "../../catalogue/catalogue.ts";
import { scopeAsWritten } from "../plan/removal.ts";
import { ownColumn } from "../plan/scope.ts";
import type { UpdatePlan } from "../plan/update_plan.ts";
import type { Fragment, Sql } from "../../database/postgres/driver.ts";
import { compileComparison } from "./operator.ts";
import { compileColumn, compileTable, join, literal } from "./fragment.ts";
import { compileWhere } from "./predicate.ts";
import { compileForeignParent, compileReference } from "./row_checks.ts";
import { compileScope, type TenantScope } from "./scope.ts";

type WrittenPlan = Pick<UpdatePlan, "scope" | "table" | "removal">;

/**
 * Compiles the RETURNING expression of an update: true for a row that, as it was written, still
 * belongs to the tenant and matches the row filter. For any other row it raises the SQLSTATE 2203C, so
 * that nothing is written, whatever has changed the row: a generated column, a trigger, the expression
 * of a view, or another partition.
 *
 * What raises it has a column of the row in it, so that no planner evaluates it before.
 * A foreign key that a trigger or an expression may have changed must refer to a row of the tenant,
 * unless it is as it was. Otherwise it raises the SQLSTATE of a foreign parent. A row that is deleted is
 * not written.
 * @see T80, T83
 */
export function compileAsWritten(sql: Sql, plan: WrittenPlan): Fragment {
  const { removal } = plan;
  if (removal !== undefined && removal.mark === undefined) return sql`true`;
  const scope = scopeAsWritten(plan);
  const holds = compileWhere(sql, { scope, predicate: undefined }, "locked");
  const changed = plan.table.references.filter((reference) => mayChange(plan.table, reference));
  const refers = changed.map((reference) => sql`(${compileRefers(sql, plan, reference)})`);
  const whole = refers.length === 0 ? holds : sql`${holds} and ${join(sql, "and", refers)}`;
  return sql`
    case
      when ${whole} then true
      ${refers.length === 0 ? sql`` : sql`when ${holds} and ${compileForeignParent(sql)} then null`}
      when pg_catalog.jsonb_path_match(
        pg_catalog.to_jsonb(pg_catalog.num_nulls(${compileColumn(sql, ownColumn(scope))})),
        '$.keyvalue()'
      ) then null
    end`;
}

/** Reports whether a key can get another value than the request gives it. */
function mayChange({ maySkip, columns }: Table, { via: [first] }: Tenancy): boolean {
  const isGenerated = ({ identifier, readOnly }: Column) =>
    readOnly === "generated" && first!.pairs.some(({ from }) => from === identifier);
  return maySkip === true || [...columns.values()].some(isGenerated);
}

/** Compiles whether a row refers to nothing, to a row of the tenant, or to what it referred to before. */
function compileRefers(sql: Sql, { scope, table }: WrittenPlan, reference: Tenancy): Fragment {
  const own = (identifier: SqlText) => compileColumn(sql, { identifier });
  const refers = compileReference(sql, scope, { reference, own });
  const { keyOrder } = table;
  if (keyOrder.length === 0) return refers;
  const referring = reference.via[0]!.pairs.map(({ from }) => ({ identifier: from }));
  const name = (kind: string, place: number) => literal(sql, `"$${kind}${place}"` as SqlText);
  const written = [
    ...keyOrder.map((column, place) => sql`${own(column.identifier)} ${name("key", place)}`),
    ...referring.map((column, place) =>
      sql`${own(column.identifier)}::text ${name("refers", place)}`
    ),
  ];
  const key = keyOrder.map((column, place) =>
    compileComparison(sql, "=", {
      column,
      left: own(column.identifier),
      right: sql`"$written".${name("key", place)}`,
    })
  );
  const same = referring.map((column, place) =>
    sql`${own(column.identifier)}::text is not distinct from "$written".${name("refers", place)}`
  );
  // The statement's snapshot still has the row as it was.
  return sql`
    ${refers} or exists (
      select from (select ${join(sql, ",", written)}) "$written", ${compileTable(sql, table)}
      where ${compileScope(sql, scope as TenantScope, "seen")}
        and ${join(sql, "and", [...key, ...same])}
    )`;
}
