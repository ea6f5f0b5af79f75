import type { Column, SqlText } from "../../catalogue/catalogue.ts";
import type { ValueKind } from "../../catalogue/value_kind.ts";
import type { Predicate, Value } from "../plan/predicate.ts";
import type { Scope } from "../plan/scope.ts";
import type { Fragment, Sql } from "../../database/postgres/driver.ts";
import { printArray } from "../../basics/text/array_text.ts";
import { compileColumn, join, literal } from "./fragment.ts";
import { compileComparison, compileName } from "./operator.ts";
import { compileScope, type ScopeReading } from "./scope.ts";
import { settleTime } from "./settle_time.ts";

/** Compiles a column in a comparison. A domain over an enum is cast, since it has no `=` of its own. */
export function compileOperand(sql: Sql, column: Column): Fragment {
  const value = compileColumn(sql, column);
  return column.comparedAs === undefined
    ? value
    : sql`${value}::${literal(sql, column.comparedAs)}`;
}

/** Compiles a value as a text that the input function of the column's type reads; null is NULL. */
export function compileValue(
  sql: Sql,
  value: Pick<Value, "text" | "zoned" | "bare"> | null,
  { column, cast = column.cast }: { column: Column; cast?: SqlText },
): Fragment {
  const text = value && settleTime(value, column);
  if (value?.zoned && isElsewhere(column)) return compileLocalTime(sql, text!, { column, cast });
  const isArray = column.kind === "array";
  if (isReadForEachRow(column, cast)) {
    const type = value?.zoned ? ZONED : cast;
    return type === cast
      ? sql`${text}::${literal(sql, cast)}`
      : sql`${text}::${literal(sql, type)}::${literal(sql, cast)}`;
  }
  return sql`${text}::text${compileTimeZoneCast(sql, value?.zoned, isArray)}::${
    literal(sql, cast)
  }`;
}

/**
 * Types whose input functions depend on settings of the session, which are the same in every session.
 */
const READ_FOR_EACH_ROW: ReadonlySet<string> = new Set(
  ["date", "time", "timetz", "timestamp", "timestamptz"]
    .map((name) => `pg_catalog.${name}`),
);
const ZONED = "pg_catalog.timestamptz" as SqlText;

/**
 * Reports whether Postgres would cast a text to the type again for each row that it filters. If so,
 * the parameter itself has the type and is read once. `openClient` makes the driver pass such a
 * parameter on unchanged.
 * @see D1
 */
function isReadForEachRow({ kind }: Column, cast: SqlText): boolean {
  return kind === "enum" || READ_FOR_EACH_ROW.has(cast);
}

/**
 * Compiles a cast to `timestamptz` for a text with an offset, which the input function of `timestamp`
 * would drop. It converts the value to the time zone of the session.
 */
export function compileTimeZoneCast(
  sql: Sql,
  zoned: boolean | undefined,
  isArray: boolean,
): Fragment {
  if (!zoned) return sql``;
  return isArray ? sql`::pg_catalog.timestamptz[]` : sql`::pg_catalog.timestamptz`;
}

/**
 * Reports whether a `timestamp` with an offset has to be converted to a zone that is not the session's.
 */
function isElsewhere({ timeZone }: Column): boolean {
  return timeZone !== undefined && timeZone !== "UTC";
}

/**
 * Compiles a value whose text is not a parameter of its own, but part of a list that is one; `zoned` as
 * for a value.
 */
export function compileListed(
  sql: Sql,
  text: Fragment,
  { column, zoned, cast = column.cast }: {
    readonly column: Column;
    readonly zoned: boolean;
    readonly cast?: SqlText;
  },
): Fragment {
  const { kind } = column;
  if (zoned && isElsewhere(column)) return compileLocalTime(sql, text, { column, cast });
  return sql`${text}${compileTimeZoneCast(sql, zoned, kind === "array")}::${literal(sql, cast)}`;
}

/** Converts a text with an offset, or an array of one dimension, to the zone of the column. @see V13 */
function compileLocalTime(
  sql: Sql,
  text: string | Fragment,
  { column, cast }: { column: Column; cast: SqlText },
): Fragment {
  const type = literal(sql, cast);
  if (column.kind !== "array") {
    return sql`(${text}::${literal(sql, ZONED)} at time zone ${column.timeZone!}::text)::${type}`;
  }
  return sql`${
    compileLocalTimes(sql, sql`${text}::text::${literal(sql, ZONED)}[]`, column)
  }::${type}`;
}

function compileLocalTimes(sql: Sql, times: Fragment, { timeZone }: Column): Fragment {
  return sql`
    array(
      select "$time"."$value" at time zone ${timeZone!}::text
      from unnest(${times}) with ordinality "$time"("$value", "$place")
      order by "$time"."$place"
    )`;
}

/**
 * Compiles the WHERE of a table: first the tenant's scope, outermost, then the client's predicate in
 * parentheses.
 * @see S8, TE3, TE20
 */
export function compileWhere(
  sql: Sql,
  { scope, predicate }: { scope: Scope; predicate: Predicate | undefined },
  reading: ScopeReading = "seen",
): Fragment {
  const parts: Fragment[] = [];
  if (scope.kind === "tenant") parts.push(compileScope(sql, scope, reading));
  if (scope.only !== undefined) parts.push(compilePredicate(sql, scope.only));
  if (predicate !== undefined) parts.push(compileBeside(sql, predicate, scope));
  return parts.length === 0 ? sql`true` : join(sql, "and", parts);
}

/**
 * Compiles a predicate beside the scope. Its conditions on the tenant column are hidden from the
 * planner by IS TRUE: a planner that sees two tenants for one row concludes that nothing matches, and
 * one that forwards statements to shards then fails, because there is no shard to send the update to.
 * @see M16
 */
function compileBeside(sql: Sql, predicate: Predicate, scope: Scope): Fragment {
  if (predicate.kind !== "and" || scope.kind !== "tenant" || scope.tenancy.via.length > 0) {
    return compilePredicate(sql, predicate);
  }
  const { columns } = scope.tenancy;
  const names = (item: Predicate) =>
    "column" in item && columns.some(({ identifier }) => identifier === item.column.identifier);
  if (!predicate.items.some(names)) return compilePredicate(sql, predicate);
  const items = predicate.items.map((item) => {
    const condition = compilePredicate(sql, item);
    return names(item) ? sql`(${condition}) is true` : condition;
  });
  return sql`(${join(sql, "and", items)})`;
}

/** Compiles a predicate; it needs no parentheses beside an AND. @see Q12, Q13 */
export function compilePredicate(sql: Sql, predicate: Predicate): Fragment {
  switch (predicate.kind) {
    case "and":
    case "or":
      return compileGroup(sql, predicate.kind, predicate.items);
    case "compare":
      return compileComparison(sql, predicate.comparison, {
        column: predicate.column,
        left: compileOperand(sql, predicate.column),
        right: compileValue(sql, predicate.value, predicate),
      });
    case "between":
      return predicate.column.operators !== undefined
        ? compileBetween(sql, predicate)
        : sql`${compileOperand(sql, predicate.column)} between ${
          compileValue(sql, predicate.low, predicate)
        } and ${compileValue(sql, predicate.high, predicate)}`;
    case "member":
      return compileMember(sql, predicate);
    case "like":
      return compileLike(sql, predicate);
    case "contains": {
      const { column, value } = predicate;
      return sql`${compileOperand(sql, column)} @> ${compileValue(sql, value, { column })}`;
    }
    case "null": {
      const column = compileColumn(sql, predicate.column);
      return predicate.negated ? sql`${column} is not null` : sql`${column} is null`;
    }
  }
}

/** Compiles a range for a type whose operators are not built in, which BETWEEN would not find. */
function compileBetween(
  sql: Sql,
  { column, low, high }: Extract<Predicate, { kind: "between" }>,
): Fragment {
  const left = compileOperand(sql, column);
  const from = { column, left, right: compileValue(sql, low, { column }) };
  const to = { column, left, right: compileValue(sql, high, { column }) };
  return sql`${compileComparison(sql, ">=", from)} and ${compileComparison(sql, "<=", to)}`;
}

function compileGroup(sql: Sql, kind: "and" | "or", items: readonly Predicate[]): Fragment {
  if (items.length === 0) return kind === "and" ? sql`true` : sql`false`;
  return sql`(${join(sql, kind, items.map((item) => compilePredicate(sql, item)))})`;
}

/**
 * Compiles `in` and `not_in` with one parameter for the whole list, so that lists of every length
 * share one statement.
 */
function compileMember(
  sql: Sql,
  { column, negated, values }: Extract<Predicate, { kind: "member" }>,
): Fragment {
  const left = compileOperand(sql, column);
  const list = compileList(sql, values, column);
  if (column.operators !== undefined) {
    const name = compileName(sql, column.operators, negated ? "<>" : "=");
    return negated ? sql`${left} ${name} all(${list})` : sql`${left} ${name} any(${list})`;
  }
  if (!negated) return sql`${left} = any(${list})`;
  // Postgres hashes rows for this form alone.
  if (isListedAsRows(column)) return sql`not (${left} = any(${list}))`;
  return sql`${left} <> all(${list})`;
}

/** Kinds whose lists are rows, not an array. */
const LISTED_AS_ROWS: ReadonlySet<ValueKind> = new Set<ValueKind>(["array", "json", "composite"]);

/**
 * Reports whether a list of values is compiled to rows: arrays, since those of Postgres do not nest,
 * and others of any size, since Postgres would decompress what is stored for each value of an array,
 * and cannot be interrupted meanwhile.
 * @see docs/decisions/0017-limits.md
 */
export function isListedAsRows({ kind, container }: Pick<Column, "kind" | "container">): boolean {
  return LISTED_AS_ROWS.has(kind) || container === "multirange";
}

/** Compiles a list of values as one parameter, to an array or to rows. */
export function compileList(sql: Sql, values: readonly Value[], column: Column): Fragment {
  const texts = printArray(values.map((value) => settleTime(value, column)));
  const cast = literal(sql, column.cast);
  if (values[0]?.zoned && isElsewhere(column)) return compileLocalList(sql, texts, column);
  if (isReadForEachRow(column, column.cast)) {
    return values[0]?.zoned
      ? sql`${texts}::${literal(sql, ZONED)}[]::${cast}[]`
      : sql`${texts}::${cast}[]`;
  }
  const zone = compileTimeZoneCast(sql, values[0]?.zoned, true);
  if (!isListedAsRows(column)) return sql`${texts}::text[]${zone}::${cast}[]`;
  return sql`
    select "$list"."$value"${zone}::${cast}
    from unnest(${texts}::text[]) "$list"("$value")`;
}

function compileLocalList(sql: Sql, texts: string, column: Column): Fragment {
  const zoned = literal(sql, ZONED);
  const cast = literal(sql, column.cast);
  if (column.kind !== "array") {
    return sql`${compileLocalTimes(sql, sql`${texts}::${zoned}[]`, column)}::${cast}[]`;
  }
  const times = compileLocalTimes(sql, sql`"$list"."$value"::${zoned}[]`, column);
  return sql`
    select ${times}::${cast}
    from unnest(${texts}::text[]) "$list"("$value")`;
}

/**
 * Compiles `like`, which compares the text of the value. It is case-sensitive, whatever the collation
 * of the column is.
 */
function compileLike(
  sql: Sql,
  { column, negated, pattern, ignoresCase }: Extract<Predicate, { kind: "like" }>,
): Fragment {
  const left = compileText(sql, column);
  if (ignoresCase) {
    return negated ? sql`${left} not ilike ${pattern}::text` : sql`${left} ilike ${pattern}::text`;
  }
  return negated ? sql`${left} not like ${pattern}::text` : sql`${left} like ${pattern}::text`;
}

function compileText(sql: Sql, column: Column): Fragment {
  const value = sql`${compileColumn(sql, column)}::text`;
  return column.deterministic ? value : sql`${value} collate "C"`;
}
