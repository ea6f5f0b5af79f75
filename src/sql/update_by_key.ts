import type { PendingQuery, Sql } from "../postgres/driver.ts";
import type { UpdatePlan } from "../plan/update_plan.ts";
import { compileAudit } from "./audit.ts";
import { compileJudgement } from "./check_values.ts";
import { compileWhere } from "./predicate.ts";
import { compileFromSettings, compileSettings, type Setting } from "./settings.ts";
import { compileChanges, compileSet } from "./assignments.ts";
import { compileTable } from "./fragment.ts";

/** The one row of the result of an update by key. */
export interface KeyedRow {
  /** Null when no row matches; true when one of its values would change. */
  readonly wanted: boolean | null;
  /** Null when nothing was written. Wanted and not written: the row changed meanwhile. */
  readonly updated: true | null;
}

/** SQLSTATE of a subquery that gave a second row: the key is none any more, and nothing was kept. */
export const SECOND_ROW = "21000";

/**
 * Compiles a single update whose filters name the whole key, so that one row at most can match:
 * nothing is counted and no version is pinned, which takes a third off what Postgres spends on it.
 *
 * `$m` and `$u` are read where one value stands. Should the key have been dropped since the catalogue
 * was read, and two rows match, Postgres refuses the statement with {@link SECOND_ROW}.
 * @see docs/decisions/0187-updates-by-key.md
 * @see U20
 */
export function compileUpdateByKey(
  sql: Sql,
  plan: UpdatePlan,
  settings: readonly Setting[] = [],
): PendingQuery<KeyedRow[]> {
  const { predicate, assignments, audit } = plan;
  const table = compileTable(sql, plan.table);
  const where = compileWhere(sql, plan);
  const changes = compileChanges(sql, assignments);
  const judgement = compileJudgement(sql, predicate, assignments);
  const counts = { matched: sql`1`, updated: sql`(select count(*) from "$u")` };
  return sql<KeyedRow[]>`with ${
    compileSettings(sql, settings)
  }"$m" as materialized (select ${changes} "$d" from ${table} where ${where}), "$u" as (update ${table} set ${
    compileSet(sql, assignments)
  } where ${where} and ${changes} returning true "$w")${
    audit === undefined
      ? sql``
      : sql`, "$a" as (${
        compileAudit(sql, audit, counts)
      } from "$m" where not "$d" or exists (select from "$u"))`
  } select (select "$d" from "$m") wanted, (select "$w" from "$u") updated${
    judgement === undefined ? sql`` : sql`, (${judgement}) judged`
  }${compileFromSettings(sql, settings)}`;
}
