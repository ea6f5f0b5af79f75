import type { Column, SqlText } from "../../catalogue/catalogue.ts";
import type { QueryPlan } from "../plan/query_plan.ts";
import type { Fragment, Sql } from "../../database/postgres/driver.ts";
import { compileColumn, join, literal } from "./fragment.ts";

/** Types whose length Postgres reads from a header, even of a compressed value. */
const TEXTS: ReadonlySet<string> = new Set(["text", "varchar", "bpchar", "citext", "bytea"]);
/** Types whose values are always short. */
const SHORT: ReadonlySet<string> = new Set(
  ("date time timetz timestamp timestamptz interval money oid xid xid8 cid tid point lseg box line " +
    "circle macaddr macaddr8 pg_lsn inet cidr char name").split(" "),
);
const SHORT_KINDS: ReadonlySet<Column["kind"]> = new Set(
  ["boolean", "int2", "int4", "int8", "float4", "float8", "uuid", "enum"],
);
/** The most by which any other value grows when it is printed, such as `1e300` within jsonb. */
const PRINTED_LARGER = "32" as SqlText;

/** Compiles the columns of a record. Their aliases become the keys of the JSON object. */
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
        : compileNamed(sql, column)
    ),
  );
}

/** Compiles a column under the name that clients have for it. */
function compileNamed(sql: Sql, column: Column): Fragment {
  const value = compileColumn(sql, column);
  return column.alias === undefined ? value : sql`${value} ${literal(sql, column.alias)}`;
}

function compileAsText(sql: Sql, column: Column): Fragment {
  const value = compileColumn(sql, column);
  const name = literal(sql, column.alias ?? column.identifier);
  return column.kind === "array" ? sql`${value}::text[] ${name}` : sql`${value}::text ${name}`;
}

/**
 * Compiles whether a `"$record"` is certain to print to at most so many bytes, from sizes that
 * Postgres knows without reading the values. Undefined if no record can be larger.
 * @see docs/decisions/0018-pages.md
 */
export function compileSmall(
  sql: Sql,
  { columns }: Pick<QueryPlan, "columns">,
  maxBytes: number,
): Fragment | undefined {
  const long = columns.filter((column) => !isShort(column));
  if (long.length === 0) return undefined;
  const sizes = long.map((column) => {
    const value = compileMember(sql, column);
    return isText(column)
      ? sql`coalesce(octet_length(${value}), 0)::int8`
      : sql`coalesce(pg_column_size(${value}), 0)::int8 * ${literal(sql, PRINTED_LARGER)}`;
  });
  const limit = sql`${String(Math.floor(maxBytes))}::text::int8`;
  const uncompressed = long.filter((column) => !isText(column)).map((column) =>
    sql`pg_column_compression(${compileMember(sql, column)}) is null`
  );
  return join(sql, "and", [sql`${join(sql, "+", sizes)} <= ${limit}`, ...uncompressed]);
}

/**
 * Compiles the number of bytes to which the records of `"$unprinted"` print. Each value is printed by
 * itself, in memory that is freed before the next one. A value whose stored size is larger than a
 * page is not printed at all.
 */
export function compileBytes(
  sql: Sql,
  { columns, maxPageBytes }: Pick<QueryPlan, "columns" | "maxPageBytes">,
): Fragment {
  const limit = sql`${String(maxPageBytes)}::text::int8`;
  const sizes = columns.filter((column) => !isShort(column)).map((column) => {
    const value = compileMember(sql, column);
    const stored = isText(column) ? sql`octet_length(${value})` : sql`pg_column_size(${value})`;
    return sql`(
      case when ${stored} > ${limit} then ${stored} else pg_column_size(to_json(${value})) end
    )`;
  });
  if (sizes.length === 0) return sql`0`;
  // With one row, VALUES would be optimised away, and the memory kept until the end of the record.
  const rows = [...sizes, sql`(0)`];
  const exact = sql`
    select coalesce(sum("$size"."$bytes"), 0)
    from "$unprinted" "$record"
    cross join lateral (values ${join(sql, ",", rows)}) "$size"("$bytes")`;
  const texts = columns.filter(isText).map((column) =>
    sql`coalesce(octet_length(${compileMember(sql, column)}), 0)::int8`
  );
  if (texts.length === 0) return exact;
  // The lengths of texts are known without printing: if the texts alone are too long, nothing is
  // printed.
  const least = sql`
    select coalesce(sum(${join(sql, "+", texts)}), 0)
    from "$unprinted" "$record"`;
  return sql`
    select case when (${least}) > ${limit} then ${limit} + 1 else (${exact}) end`;
}

/** Sizes of one row, which decide whether it may be printed. */
export interface RowBytes {
  /** An estimate from the stored sizes, never negative. */
  readonly estimated: Fragment;
  /** Whether the row is certain to be small. */
  readonly small: Fragment;
  /** The printed size, for a row that is not certain to be small. */
  readonly exact: Fragment;
}

/**
 * Compiles the sizes of a `"$row"`; undefined if every value is short. The lengths of texts are known
 * without reading them.
 * @see docs/decisions/0018-pages.md
 */
export function compileRowBytes(
  sql: Sql,
  { columns }: { readonly columns: readonly Column[] },
  maxBytes: number,
): RowBytes | undefined {
  const long = columns.filter((column) => !isShort(column) && !hasShortLimit(column));
  if (long.length === 0) return undefined;
  const lengths = long.filter(isText).map((column) =>
    sql`coalesce(octet_length(${compileColumn(sql, column)}), 0)::int8`
  );
  const others = long.filter((column) => !isText(column)).map((column) => ({
    stored: sql`coalesce(pg_column_size(${compileColumn(sql, column)}), 0)::int8`,
    plain: sql`pg_column_compression(${compileColumn(sql, column)}) is null`,
    printed: sql`coalesce(octet_length(to_json(${compileColumn(sql, column)})::text), 0)::int8`,
  }));
  const stored = others.map((one) => sql`${one.stored} * ${literal(sql, PRINTED_LARGER)}`);
  const limit = sql`${String(maxBytes)}::text::int8`;
  const estimated = join(sql, "+", [...lengths, ...stored]);
  const small = join(sql, "and", [
    sql`${estimated} <= ${limit}`,
    ...others.map(({ plain }) => plain),
  ]);
  // A value whose stored size is larger than a record is not printed to find its size.
  const printed = others.map((one) =>
    sql`case when ${one.stored} > ${limit} then ${one.stored} else ${one.printed} end`
  );
  return { estimated, small, exact: join(sql, "+", [...lengths, ...printed]) };
}

/** Declared length up to which a text counts as short. */
const SHORT_LIMIT = 1000;

function hasShortLimit(column: Column): boolean {
  return isText(column) && column.maxLength !== undefined && column.maxLength <= SHORT_LIMIT;
}

function compileMember(sql: Sql, { identifier, alias }: Column): Fragment {
  return sql`"$record".${literal(sql, alias ?? identifier)}`;
}

function isText({ kind, baseType }: Column): boolean {
  return kind !== "array" && TEXTS.has(baseType);
}

/** Reports whether every value of a column is short. */
export function isShort({ kind, baseType }: Column): boolean {
  return SHORT_KINDS.has(kind) || kind !== "array" && SHORT.has(baseType);
}
