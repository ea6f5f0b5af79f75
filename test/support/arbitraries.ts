import fc from "fast-check";
import type { Arbitrary } from "fast-check";
import { ORACLE_COLUMNS } from "./oracle_columns.ts";
import type { OracleColumn, SentValue } from "./oracle_column.ts";
import type {
  OracleCondition,
  OracleFilter,
  OracleGroup,
  OracleRow,
  OracleSort,
} from "./oracle.ts";

const COMPARISONS = ["eq", "neq", "gt", "gte", "lt", "lte"];
const LISTS = ["in", "not_in"];

/** Rows of the oracle's table, of two tenants, with ties, nulls and keys in no order. */
export function arbitraryRows(maxLength: number): Arbitrary<OracleRow[]> {
  const cells = Object.fromEntries(
    ORACLE_COLUMNS.map(({ name, cells }) => [
      name,
      fc.option(fc.constantFrom(...cells), { freq: 4 }),
    ]),
  );
  const row = fc.record({
    bucket: fc.integer({ min: 1, max: 3 }),
    id: fc.integer({ min: 1, max: 1000 }),
    tenant: fc.integer({ min: 1, max: 2 }),
    cells: fc.record(cells),
  });
  return fc.uniqueArray(row, {
    maxLength,
    size: "max",
    selector: ({ bucket, id }) => `${bucket} ${id}`,
  });
}

/** A value of a column in one of the spellings that a client may send. */
export function arbitraryValue(column: OracleColumn): Arbitrary<SentValue> {
  const plain = column.cells.map((cell) => ({ json: cell, cell }));
  return fc.constantFrom(...plain, ...column.spellings);
}

/** A value of a column, or null, which means IS NULL. */
export function arbitraryValueOrNull(
  column: OracleColumn,
): Arbitrary<SentValue | { readonly json: null; readonly cell: null }> {
  return fc.oneof(
    { weight: 6, arbitrary: arbitraryValue(column) },
    { weight: 1, arbitrary: fc.constant({ json: null, cell: null }) },
  );
}

/** A LIKE pattern that ends in no unpaired backslash, made of a column's cells and wildcards. */
export function arbitraryPattern(column: OracleColumn): Arbitrary<string> {
  const piece = fc.oneof(
    fc.constantFrom("%", "_", "%%", "\\%", "\\_", "\\\\", "\\a", "5", "a", "%0%"),
    fc.constantFrom(...column.cells).map((cell) => cell.replaceAll("\\", "\\\\")),
    fc.constantFrom(...column.cells).map((cell) =>
      [...cell].slice(0, 3).join("").replaceAll("\\", "\\\\")
    ),
  );
  return fc.array(piece, { maxLength: 4 }).map((pieces) => pieces.join(""));
}

/** A condition on any column with any operator that its type admits. */
export function arbitraryCondition(): Arbitrary<OracleCondition> {
  return fc.constantFrom(...ORACLE_COLUMNS).chain((column) => {
    const operators = [
      "is_null",
      "is_not_null",
      "like",
      "not_like",
      ...(column.type.startsWith("text") ? ["ilike", "not_ilike", "starts_with"] : []),
      ...LISTS,
      ...(column.compare === undefined ? COMPARISONS.slice(0, 2) : [...COMPARISONS, "between"]),
    ];
    return fc.constantFrom(...operators).chain((op) => conditionOf(column, op));
  });
}

function conditionOf(column: OracleColumn, op: string): Arbitrary<OracleCondition> {
  const field = column.name;
  if (op === "is_null" || op === "is_not_null") {
    return fc.constant({ field, op, cells: [], sent: { field, op } });
  }
  if (op === "starts_with") {
    const beginning = fc.constantFrom(...column.cells).chain((cell) =>
      fc.nat([...cell].length).map((length) => [...cell].slice(0, length).join(""))
    );
    return beginning.map((value) => ({ field, op, cells: [value], sent: { field, op, value } }));
  }
  if (op.endsWith("like")) {
    return arbitraryPattern(column).map((value) => ({
      field,
      op,
      cells: [value],
      sent: { field, op, value },
    }));
  }
  if (LISTS.includes(op) || op === "between") {
    const list = op === "between"
      ? fc.array(arbitraryValue(column), { minLength: 2, maxLength: 2 })
      : fc.array(arbitraryValueOrNull(column), { minLength: 1, maxLength: 6 });
    return list.map((values) => ({
      field,
      op,
      cells: values.map(({ cell }) => cell),
      sent: { field, op, value: values.map(({ json }) => json) },
    }));
  }
  const value = op === "eq" || op === "neq" ? arbitraryValueOrNull(column) : arbitraryValue(column);
  return value.map(({ json, cell }) => ({
    field,
    op,
    cells: [cell],
    sent: { field, op, value: json },
  }));
}

/** A group within the limits: five deep, fifty conditions; groups may be empty. */
export function arbitraryGroup(): Arbitrary<OracleGroup> {
  return groupOfDepth(5).filter((group) => countConditions(group) <= 50);
}

function groupOfDepth(depth: number): Arbitrary<OracleGroup> {
  const item: Arbitrary<OracleFilter> = depth === 1 ? arbitraryCondition() : fc.oneof(
    { weight: 3, arbitrary: arbitraryCondition() },
    { weight: 2, arbitrary: fc.constant(depth - 1).chain(groupOfDepth) },
  );
  return fc.record({
    combine: depth % 2 === 1
      ? fc.constantFrom("or", "or", "and")
      : fc.constantFrom("and", "and", "or"),
    items: fc.array(item, { maxLength: depth === 5 ? 4 : 3, size: "max" }),
  });
}

function countConditions(filter: OracleFilter): number {
  if (!("combine" in filter)) return 1;
  return filter.items.reduce((sum, item) => sum + countConditions(item), 0);
}

/** The filter as a client sends it. */
export function sendFilter(filter: OracleFilter): unknown {
  return "combine" in filter ? { [filter.combine]: filter.items.map(sendFilter) } : filter.sent;
}

/** An ordering by up to three columns of the oracle's table, key columns among them. */
export function arbitrarySort(): Arbitrary<OracleSort[]> {
  const names = ORACLE_COLUMNS.filter(({ compare }) => compare !== undefined)
    .map(({ name }) => name);
  const item = fc.record({
    field: fc.constantFrom(...names, "id", "bucket"),
    direction: fc.constantFrom<"asc" | "desc">("asc", "desc"),
  });
  return fc.uniqueArray(item, { maxLength: 3, selector: ({ field }) => field });
}
