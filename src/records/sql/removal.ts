import type { Cascade, CascadeTarget, SqlText } from "../../catalogue/catalogue.ts";
import type { UpdatePlan } from "../plan/update_plan.ts";
import type { Fragment, Sql } from "../../database/postgres/driver.ts";
import { tenantFitsColumns } from "../../catalogue/tenant_column.ts";
import { compileSet } from "./assignments.ts";
import { compileTable, join, literal } from "./fragment.ts";
import { compileComparison } from "./operator.ts";
import { compileScope, type TenantScope } from "./scope.ts";

/**
 * Compiles the head of what writes rows: an UPDATE with its SET, or a DELETE; `from` names what else it
 * reads. A WHERE follows.
 * @see DE2
 */
export function compileWriteHead(sql: Sql, plan: UpdatePlan, from?: Fragment): Fragment {
  const table = compileTable(sql, plan.table);
  if (plan.removal !== undefined && plan.removal.mark === undefined) {
    return sql`delete from ${table} ${from === undefined ? sql`` : sql`using ${from}`}`;
  }
  return sql`
    update ${table}
      set ${compileMark(sql, plan) ?? compileSet(sql, plan)}
      ${from === undefined ? sql`` : sql`from ${from}`}`;
}

/** Compiles the SET that marks rows as deleted; undefined for an update. @see DE14 */
function compileMark(sql: Sql, { removal }: UpdatePlan): Fragment | undefined {
  if (removal?.mark === undefined) return undefined;
  const { column, value } = removal.mark;
  const mark = value === "true" ? sql`true` : sql`now()::${literal(sql, column.storedCast)}`;
  return sql`${literal(sql, column.identifier)} = ${mark}`;
}

/** Reports whether a delete may take rows of another tenant with it; then its rows are locked first. */
export function mayEntangle({ removal }: Pick<UpdatePlan, "removal">): boolean {
  return removal !== undefined && removal.cascades.length > 0;
}

/**
 * Compiles whether a delete of the row would take rows of another tenant with it, with a name and a comma
 * behind it; empty where it cannot.
 * @see DE11
 */
export function compileEntangled(sql: Sql, plan: UpdatePlan): Fragment {
  if (!mayEntangle(plan)) return sql``;
  return sql`${compileIsEntangled(sql, plan)} "$entangled",`;
}

/** Compiles the condition itself. */
export function compileIsEntangled(sql: Sql, plan: UpdatePlan): Fragment {
  const each = plan.removal!.cascades.map((cascade) => compileCascade(sql, plan, cascade));
  return sql`(${join(sql, "or", each)})`;
}

function compileCascade(
  sql: Sql,
  { scope }: UpdatePlan,
  { path, tenancy, target }: Cascade,
): Fragment {
  const alias = (place: number) => literal(sql, `"$child${place + 1}"` as SqlText);
  const sources = path.map(({ source }, place) => sql`${literal(sql, source)} ${alias(place)}`);
  const same = path.flatMap(({ pairs }, place) =>
    pairs.map((pair) =>
      compileComparison(sql, "=", {
        column: pair,
        left: sql`${alias(place)}.${literal(sql, pair.from)}`,
        right: place === 0
          ? sql`"$row".${literal(sql, pair.to)}`
          : sql`${alias(place - 1)}.${literal(sql, pair.to)}`,
      })
    )
  );
  const reached = sql`select from ${join(sql, ",", sources)} where ${join(sql, "and", same)}`;
  const fits = tenancy !== undefined && tenancy !== "others" &&
    tenantFitsColumns(scope.tenant, tenancy.columns);
  if (!fits) return sql`exists (${reached})`;
  const { only: _, ...whole } = scope;
  const belongs = compileScope(sql, { ...whole, tenancy }, "seen");
  const [first] = tenancy.via;
  const names = first === undefined
    ? tenancy.columns.map(({ identifier }) => identifier)
    : first.pairs.map(({ from }) => from);
  const own = names.map((name) => sql`${alias(path.length - 1)}.${literal(sql, name)}`);
  const last = alias(path.length - 1);
  const misled = target === undefined
    ? sql``
    : sql`or not (${compileTarget(sql, scope, { target, last })})`;
  return sql`
    exists (
      ${reached} and (not exists (
        select from (select ${join(sql, ",", own)}) "$row" where ${belongs}
      ) ${misled})
    )`;
}

/** Compiles whether a row refers to none, or to one of the tenant, once its columns have their defaults. */
function compileTarget(
  sql: Sql,
  scope: TenantScope,
  { target, last }: { readonly target: CascadeTarget; readonly last: Fragment },
): Fragment {
  const { source, pairs, defaults, tenancy } = target;
  const { only: _, ...own } = scope;
  const values = pairs.map((pair, place) => {
    const given = defaults[place];
    return given === undefined
      ? sql`${last}.${literal(sql, pair.from)}`
      : sql`(${literal(sql, given)})`;
  });
  const same = pairs.map((pair, place) =>
    compileComparison(sql, "=", {
      column: pair,
      left: sql`"$row".${literal(sql, pair.to)}`,
      right: values[place]!,
    })
  );
  const belongs = compileScope(sql, { ...own, tenancy }, "seen");
  return sql`${join(sql, "or", values.map((value) => sql`${value} is null`))} or exists (
        select from ${literal(sql, source)} "$row" where ${belongs} and ${join(sql, "and", same)}
      )`;
}
