import { ORACLE_COLUMNS } from "./oracle_columns.ts";
import type { OracleColumn } from "./oracle_column.ts";
import { matchesLike } from "./oracle_like.ts";

/** A row of the oracle's table: keys, tenant, and a cell (Postgres's text, or null) for each column. */
export interface OracleRow {
  readonly bucket: number;
  readonly id: number;
  readonly tenant: number;
  readonly cells: Readonly<Record<string, string | null>>;
}

/** A condition with the cells that its values mean, beside what the client sends. */
export interface OracleCondition {
  readonly field: string;
  readonly op: string;
  readonly cells: readonly (string | null)[];
  /** The condition as the client sends it. */
  readonly sent: unknown;
}

/** A group of conditions and groups. */
export interface OracleGroup {
  readonly combine: "and" | "or";
  readonly items: readonly OracleFilter[];
}

export type OracleFilter = OracleCondition | OracleGroup;

/** One key of an ordering. */
export interface OracleSort {
  readonly field: string;
  readonly direction: "asc" | "desc";
}

/** SQL's truth: null is unknown. */
type Truth = boolean | null;

/** The rows of a tenant that a filter picks, in SQL's three-valued logic. @see Q47 */
export function pickRows(
  rows: readonly OracleRow[],
  { tenant, filter }: { tenant: number; filter: OracleFilter | undefined },
): OracleRow[] {
  return rows.filter((row) =>
    row.tenant === tenant && (filter === undefined || evaluate(row, filter) === true)
  );
}

/** Orders rows as Postgres does: null above all values, the primary key last. @see Q66, Q67 */
export function sortRows(rows: readonly OracleRow[], sort: readonly OracleSort[]): OracleRow[] {
  return [...rows].sort((a, b) => {
    for (const { field, direction } of sort) {
      const order = compareCells(a, b, field) * (direction === "desc" ? -1 : 1);
      if (order !== 0) return order;
    }
    return a.bucket - b.bucket || a.id - b.id;
  });
}

function compareCells(a: OracleRow, b: OracleRow, field: string): number {
  if (field === "id" || field === "bucket") return a[field] - b[field];
  const [x, y] = [a.cells[field] ?? null, b.cells[field] ?? null];
  if (x === null || y === null) return Number(x === null) - Number(y === null);
  return columnOf(field).compare!(x, y);
}

/** The oracle's column of a name. */
export function columnOf(name: string): OracleColumn {
  return ORACLE_COLUMNS.find((column) => column.name === name)!;
}

function evaluate(row: OracleRow, filter: OracleFilter): Truth {
  if (!("combine" in filter)) return evaluateCondition(row, filter);
  const truths = filter.items.map((item) => evaluate(row, item));
  return filter.combine === "and" ? both(truths) : either(truths);
}

function evaluateCondition(row: OracleRow, { field, op, cells }: OracleCondition): Truth {
  const cell = row.cells[field] ?? null;
  const values = cells.filter((value) => value !== null);
  const nulls = values.length < cells.length;
  switch (op) {
    case "is_null":
      return cell === null;
    case "is_not_null":
      return cell !== null;
    case "eq":
      return nulls ? cell === null : equal(field, cell, values[0]!);
    case "neq":
      return nulls ? cell !== null : not(equal(field, cell, values[0]!));
    case "in":
      return either([
        either(values.map((value) => equal(field, cell, value))),
        nulls && cell === null,
      ]);
    case "not_in":
      return both([
        both(values.map((value) => not(equal(field, cell, value)))),
        nulls ? cell !== null : true,
      ]);
    case "between":
      return both([ordered(field, cell, ">=", values[0]!), ordered(field, cell, "<=", values[1]!)]);
    case "like":
      return cell === null ? null : matchesLike(cell, values[0]!)!;
    case "not_like":
      return cell === null ? null : !matchesLike(cell, values[0]!)!;
    case "ilike":
      return cell === null ? null : matchesLike(fold(cell), fold(values[0]!))!;
    case "not_ilike":
      return cell === null ? null : !matchesLike(fold(cell), fold(values[0]!))!;
    case "starts_with":
      return cell === null ? null : cell.startsWith(values[0]!);
    default:
      return ordered(field, cell, { gt: ">", gte: ">=", lt: "<", lte: "<=" }[op]!, values[0]!);
  }
}

/** No two values of the oracle's columns differ in the case of other letters. */
function fold(text: string): string {
  return text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}

function equal(field: string, cell: string | null, value: string): Truth {
  if (cell === null) return null;
  const { compare } = columnOf(field);
  return compare === undefined ? cell === value : compare(cell, value) === 0;
}

function ordered(field: string, cell: string | null, sign: string, value: string): Truth {
  if (cell === null) return null;
  const order = columnOf(field).compare!(cell, value);
  if (sign === ">") return order > 0;
  if (sign === ">=") return order >= 0;
  return sign === "<" ? order < 0 : order <= 0;
}

function not(truth: Truth): Truth {
  return truth === null ? null : !truth;
}

function both(truths: readonly Truth[]): Truth {
  return truths.includes(false) ? false : truths.includes(null) ? null : true;
}

function either(truths: readonly Truth[]): Truth {
  return truths.includes(true) ? true : truths.includes(null) ? null : false;
}
