import type { Fragment, Sql } from "../postgres/driver.ts";
import type { Column, SqlText } from "../catalogue/catalogue.ts";
import type { QueryPlan } from "../plan/query_plan.ts";
import { compileColumn, join, literal } from "./fragment.ts";

/**
 * Compiles the columns of a record. The aliases are the columns' own names, which Postgres makes the
 * keys of the JSON object.
 */
export function compileOutput(
  sql: Sql,
  { columns, wideNumbersAsText }: Pick<QueryPlan, "columns" | "wideNumbersAsText">,
): Fragment {
  return join(
    sql,
    ",",
    columns.map((column) =>
      wideNumbersAsText && column.wideNumber
        ? compileAsText(sql, column)
        : compileColumn(sql, column)
    ),
  );
}

function compileAsText(sql: Sql, column: Column): Fragment {
  const value = compileColumn(sql, column);
  const name = literal(sql, column.identifier);
  return column.kind === "array" ? sql`${value}::text[] ${name}` : sql`${value}::text ${name}`;
}

type Sized = Pick<QueryPlan, "columns" | "maxPageBytes">;

/** Postgres tells the length of these from their header, also where they are compressed or far away. */
const TEXTS: ReadonlySet<string> = new Set(["text", "varchar", "bpchar", "citext", "bytea"]);
/** Types of which every value is short. */
const SHORT: ReadonlySet<string> = new Set(
  ("date time timetz timestamp timestamptz interval money oid xid xid8 cid tid point lseg box line " +
    "circle macaddr macaddr8 pg_lsn inet cidr char name").split(" "),
);
const SHORT_KINDS: ReadonlySet<Column["kind"]> = new Set(
  ["boolean", "int2", "int4", "int8", "float4", "float8", "uuid", "enum"],
);
/** Other values print so many times larger than they are stored, at most: `1e300` within jsonb does. */
const PRINTED_LARGER = "32" as SqlText;

/**
 * Compiles whether a row `"$r"` has fewer bytes than given, by what is known of its values without
 * reading them: no row that may be large is printed. Undefined where none can be.
 * @see docs/decisions/0203-memory-of-a-page.md
 */
export function compileSmall(
  sql: Sql,
  { columns }: Pick<Sized, "columns">,
  maxBytes: number,
): Fragment | undefined {
  const long = columns.filter((column) => !isShort(column));
  if (long.length === 0) return undefined;
  const sizes = long.map((column) => {
    const value = compileValueOf(sql, column);
    return isText(column)
      ? sql`coalesce(octet_length(${value}), 0)::int8`
      : sql`coalesce(pg_column_size(${value}), 0)::int8 * ${literal(sql, PRINTED_LARGER)}`;
  });
  const limit = sql`${String(Math.floor(maxBytes))}::text::int8`;
  const packed = long.filter((column) => !isText(column)).map((column) =>
    sql`pg_column_compression(${compileValueOf(sql, column)}) is null`
  );
  return join(sql, "and", [sql`${join(sql, "+", sizes)} <= ${limit}`, ...packed]);
}

/**
 * Compiles the bytes that the values of the rows in `"$q"` print to: each value by itself, in memory
 * that is given back before the next one. What is larger than a page as it is stored is not printed.
 */
export function compileBytes(sql: Sql, { columns, maxPageBytes }: Sized): Fragment {
  const limit = sql`${String(maxPageBytes)}::text::int8`;
  const sizes = columns.filter((column) => !isShort(column)).map((column) => {
    const value = compileValueOf(sql, column);
    const stored = isText(column) ? sql`octet_length(${value})` : sql`pg_column_size(${value})`;
    return sql`(case when ${stored} > ${limit} then ${stored} else pg_column_size(to_json(${value})) end)`;
  });
  if (sizes.length === 0) return sql`0`;
  const texts = columns.filter(isText).map((column) =>
    sql`coalesce(octet_length(${compileValueOf(sql, column)}), 0)::int8`
  );
  // What the texts have at least is known at once, and spares the rest where it is too much already.
  const least = texts.length === 0
    ? undefined
    : sql`select coalesce(sum(${join(sql, "+", texts)}), 0) from "$q" "$r"`;
  // One row of VALUES would be taken apart, and its memory kept for the whole row.
  const rows = [...sizes, sql`(0)`];
  const exact = sql`select coalesce(sum("$v"."$s"), 0) from "$q" "$r" cross join lateral (values ${
    join(sql, ",", rows)
  }) "$v"("$s")`;
  return least === undefined
    ? exact
    : sql`select case when (${least}) > ${limit} then ${limit} + 1 else (${exact}) end`;
}

function compileValueOf(sql: Sql, { identifier }: Column): Fragment {
  return sql`"$r".${literal(sql, identifier)}`;
}

function isText({ kind, baseType }: Column): boolean {
  return kind !== "array" && TEXTS.has(baseType);
}

function isShort({ kind, baseType }: Column): boolean {
  return SHORT_KINDS.has(kind) || kind !== "array" && SHORT.has(baseType);
}
