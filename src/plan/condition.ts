import type { Column, Table } from "../catalogue/catalogue.ts";
import { type Path, quote, under } from "../errors/issue.ts";
import { MAX_ISSUES_TOLD } from "../errors/limits.ts";
import type { Condition } from "../request/condition.ts";
import type {
  ListOperator,
  Operator,
  RangeOperator,
  ScalarOperator,
} from "../request/operators.ts";
import type { Scalar } from "../json/json.ts";
import { type Findings, resolveColumn } from "./column.ts";
import type { Comparison, Predicate, Value } from "./predicate.ts";
import { isDecided, judgeScalar } from "./value.ts";

/** What a predicate is planned against. */
export interface PredicateOptions {
  readonly table: Table;
  readonly findings: Findings;
}

const COMPARISONS: ReadonlyMap<ScalarOperator, Comparison> = new Map([
  ["eq", "="],
  ["neq", "<>"],
  ["gt", ">"],
  ["gte", ">="],
  ["lt", "<"],
  ["lte", "<="],
]);

/**
 * Gives the predicate of one condition: its name resolved, its operator admitted by the column's
 * type, its value checked. Undefined, with an issue at the path, when one of them is not so.
 * @see Q17, Q18
 */
export function planCondition(
  condition: Condition,
  { table, findings }: PredicateOptions,
): Predicate | undefined {
  const path = under(condition.path, "field");
  const column = resolveColumn(table, condition.field, { path, findings });
  if (column === undefined) return undefined;
  if (!admits(column, condition)) {
    const expected = `one of ${operatorsOf(column).join(", ")}`;
    findings.issues.push({
      path: under(condition.path, "op"),
      message: refuseOperator(condition.op, column, expected),
    });
    return undefined;
  }
  return planOperator(condition, column, findings);
}

/** Says that a type has not what an operator needs. @see Q54 */
export function refuseOperator(operator: string, column: Column, expected: string): string {
  return `${quote(operator)} does not work on column ${quote(column.name)} of type ` +
    `${column.type}, expected ${expected}`;
}

/** `eq null` and `neq null` are tests for null, which every type has. */
function admits(column: Column, condition: Condition): boolean {
  if ((condition.op === "eq" || condition.op === "neq") && condition.value === null) return true;
  return operatorsOf(column).includes(condition.op);
}

function planOperator(
  condition: Condition,
  column: Column,
  findings: Findings,
): Predicate | undefined {
  const path = under(condition.path, "value");
  switch (condition.op) {
    case "is_null":
    case "is_not_null":
      return { kind: "null", column, negated: condition.op === "is_not_null" };
    case "like":
    case "not_like":
      return {
        kind: "like",
        column,
        negated: condition.op === "not_like",
        pattern: condition.value,
      };
    case "in":
    case "not_in":
      return planMember(condition, column, { path, findings });
    case "between":
      return planBetween(condition, column, { path, findings });
    default:
      return planEquality(condition.value, column, {
        path,
        findings,
        comparison: COMPARISONS.get(condition.op)!,
      });
  }
}

/**
 * Compares a column with a scalar; null means IS NULL for `=` and IS NOT NULL for `<>`.
 * @see Q42, Q43, U5
 */
export function planEquality(
  value: Scalar,
  column: Column,
  { path, findings, comparison }: { path: Path; findings: Findings; comparison: Comparison },
): Predicate | undefined {
  if (value === null) return { kind: "null", column, negated: comparison === "<>" };
  const checked = checkScalar(value, column, { path, findings });
  return checked && { kind: "compare", column, comparison, value: checked };
}

/** A null in the list adds "or is null" to `in`, "and is not null" to `not_in`. */
function planMember(
  condition: Condition & { readonly op: ListOperator },
  column: Column,
  { path, findings }: { path: Path; findings: Findings },
): Predicate {
  const negated = condition.op === "not_in";
  const values: Value[] = [];
  let hasNull = false;
  condition.value.forEach((value, position) => {
    if (findings.issues.length >= MAX_ISSUES_TOLD) return;
    if (value === null) hasNull = true;
    else {
      const checked = checkScalar(value, column, { path: under(path, position), findings });
      if (checked !== undefined) values.push(checked);
    }
  });
  // What has an offset is cast another way, and a list is cast as one.
  const lists = [values.filter(({ zoned }) => !zoned), values.filter(({ zoned }) => zoned)];
  const items: Predicate[] = lists.filter((list) => list.length > 0)
    .map((list) => ({ kind: "member", column, negated, values: list }));
  if (hasNull) items.push({ kind: "null", column, negated });
  return items.length === 1 ? items[0]! : { kind: negated ? "and" : "or", items };
}

function planBetween(
  condition: Condition & { readonly op: RangeOperator },
  column: Column,
  { path, findings }: { path: Path; findings: Findings },
): Predicate | undefined {
  const [low, high] = condition.value.map((value, position) =>
    value === null
      ? undefined
      : checkScalar(value, column, { path: under(path, position), findings })
  );
  return low && high && { kind: "between", column, low, high };
}

function checkScalar(
  value: Exclude<Scalar, null>,
  column: Column,
  { path, findings }: { path: Path; findings: Findings },
): Value | undefined {
  const literal = path === null || typeof value !== "number"
    ? undefined
    : findings.words.literalsIn(path.holder)?.[path.key];
  const judgement = judgeScalar(value, column, literal);
  if ("text" in judgement) {
    const { text, zoned } = judgement;
    return { text, zoned: zoned === true, decided: isDecided(column), path };
  }
  findings.issues.push({
    path,
    message: `${quote(value)} does not fit column ${quote(column.name)} of type ${column.type}, ` +
      `expected ${judgement.expected}`,
  });
  return undefined;
}

const EQUALITY: readonly Operator[] = ["eq", "neq", "in", "not_in"];
const ORDER: readonly Operator[] = ["gt", "gte", "lt", "lte", "between"];
const ALWAYS: readonly Operator[] = ["like", "not_like", "is_null", "is_not_null"];

/** By whether a type has equality, and whether it has an order. */
const ADMITTED = [false, true].map((equality) =>
  [false, true].map((order) => listOperators(equality, order))
);

/**
 * The operators that a column's type admits, in the order in which Get Fields lists them.
 * @see T50
 */
export function operatorsOf({ equality, order }: Column): readonly Operator[] {
  return ADMITTED[Number(equality)]![Number(order)]!;
}

function listOperators(equality: boolean, order: boolean): readonly Operator[] {
  return [
    ...(equality ? EQUALITY.slice(0, 2) : []),
    ...(order ? ORDER.slice(0, 4) : []),
    ...ALWAYS.slice(0, 2),
    ...(equality ? EQUALITY.slice(2) : []),
    ...(order ? ORDER.slice(4) : []),
    ...ALWAYS.slice(2),
  ];
}
