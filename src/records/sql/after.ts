import type { Column } from "../../catalogue/catalogue.ts";
import type { FilledPlace, Place, Zone } from "../plan/after.ts";
import type { Fragment, Sql } from "../../database/postgres/driver.ts";
import { join } from "./fragment.ts";
import { type ComparedKey, compileComparison, compileRowComparison } from "./operator.ts";
import { compileOperand, compileValue } from "./predicate.ts";

/** Compiles the condition that a row is in a zone; it needs no parentheses beside an AND. */
export function compileZoneBehind(sql: Sql, { same, behind }: Zone): Fragment {
  const before = same.map((place) => compileSame(sql, place));
  const last = behind.kind === "row"
    ? compileRow(sql, behind.places)
    : compileNull(sql, behind.column, behind.kind === "not null");
  return join(sql, "and", [...before, last]);
}

/**
 * Compiles the condition that a row is in one of the zones, for a single scan. Where possible, the
 * first sort key also has a bound outside of the OR, which an index can use.
 */
export function compileZones(sql: Sql, zones: readonly Zone[]): Fragment {
  if (zones.length === 0) return sql`false`;
  if (zones.length === 1) return compileZoneBehind(sql, zones[0]!);
  const any = sql`(${
    join(sql, "or", zones.map((zone) => sql`(${compileZoneBehind(sql, zone)})`))
  })`;
  const { behind } = zones.at(-1)!;
  const first = behind.kind === "row" ? behind.places[0] : undefined;
  if (first === undefined) return any;
  const comparison = first.descending ? "<=" : ">=";
  return sql`${compileComparison(sql, comparison, compileKey(sql, first))} and ${any}`;
}

function compileRow(sql: Sql, places: readonly FilledPlace[]): Fragment {
  const comparison = places[0]!.descending ? "<" : ">";
  const keys = places.map((place) => compileKey(sql, place));
  return compileRowComparison(sql, comparison, keys);
}

function compileKey(sql: Sql, { column, value }: FilledPlace): ComparedKey {
  const right = compileValue(sql, { text: value }, { column });
  return { column, left: compileOperand(sql, column), right };
}

function compileSame(sql: Sql, { column, value }: Place): Fragment {
  if (value === null) return compileNull(sql, column, false);
  return compileComparison(sql, "=", compileKey(sql, { column, value, descending: false }));
}

/**
 * Compiles a test for NULL as a sort sees it. `is null` is also true of a composite value whose
 * fields are all NULL, which a sort treats as a value.
 */
function compileNull(sql: Sql, column: Column, negated: boolean): Fragment {
  const operand = compileOperand(sql, column);
  if (column.kind !== "composite") {
    return negated ? sql`${operand} is not null` : sql`${operand} is null`;
  }
  return negated
    ? sql`${operand} is distinct from null`
    : sql`${operand} is not distinct from null`;
}
