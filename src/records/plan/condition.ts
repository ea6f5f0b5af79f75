import type { Column, Table } from "../../catalogue/catalogue.ts";
import { hasOperator } from "../../catalogue/operators.ts";
import { type Path, quote, under } from "../../basics/errors/issue.ts";
import { MAX_REPORTED_ISSUES } from "../../basics/errors/limits.ts";
import type { Scalar } from "../../basics/json/json.ts";
import type { Condition } from "../../request/condition.ts";
import { type Operator, OPERATOR_NAMES } from "../../request/operators.ts";
import { type Findings, resolveColumn } from "./column.ts";
import { planContained } from "./contained.ts";
import { type Comparison, type Predicate, splitByZone, type Value } from "./predicate.ts";
import { checkScalar, isCertain } from "./value.ts";

/** What a predicate is planned against. */
export interface PredicateOptions {
  readonly table: Table;
  readonly findings: Findings;
}

/** The column that the value of a condition is compared with, and the path of the value. */
interface Site {
  readonly column: Column;
  readonly path: Path;
  readonly findings: Findings;
}

type ConditionOf<Op extends Operator> = Extract<Condition, { readonly op: Op }>;

type PlanOperator<Op extends Operator> = (
  condition: ConditionOf<Op>,
  site: Site,
) => Predicate | undefined;

/** The predicate of each operator; undefined, with an issue, where its value does not fit. */
const PLANNERS: { readonly [Op in Operator]: PlanOperator<Op> } = {
  eq: ({ value }, site) => planComparison(value, "=", site),
  neq: ({ value }, site) => planComparison(value, "<>", site),
  gt: ({ value }, site) => planComparison(value, ">", site),
  gte: ({ value }, site) => planComparison(value, ">=", site),
  lt: ({ value }, site) => planComparison(value, "<", site),
  lte: ({ value }, site) => planComparison(value, "<=", site),
  like: ({ value }, site) => planPattern(value, { negated: false }, site),
  not_like: ({ value }, site) => planPattern(value, { negated: true }, site),
  in: ({ value }, site) => planMember(value, { negated: false }, site),
  not_in: ({ value }, site) => planMember(value, { negated: true }, site),
  between: ({ value }, site) => planBetween(value, site),
  is_null: (_condition, { column }) => ({ kind: "null", column, negated: false }),
  is_not_null: (_condition, { column }) => ({ kind: "null", column, negated: true }),
  ilike: ({ value }, site) => planPattern(value, { negated: false, ignoresCase: true }, site),
  not_ilike: ({ value }, site) => planPattern(value, { negated: true, ignoresCase: true }, site),
  starts_with: ({ value }, site) => planPattern(matchBeginning(value), { negated: false }, site),
  contains: ({ value }, site) => planContained(value, site),
};

/**
 * Returns the predicate of one condition. Resolves its name, and checks its operator and its value
 * against the column's type. Undefined, with an issue at the path, if one of them is wrong.
 * @see Q17, Q18
 */
export function planCondition(
  condition: Condition,
  { table, findings }: PredicateOptions,
): Predicate | undefined {
  const path = under(condition.path, "field");
  const column = resolveColumn(table, condition.field, { path, findings });
  if (column === undefined) return undefined;
  if (!isNullTest(condition) && !hasOperator(column, condition.op)) {
    const expected = suggestOperators(condition.op, column);
    findings.issues.push({
      path: under(condition.path, "op"),
      message: describeUnfitOperator(condition.op, column, expected),
    });
    return undefined;
  }
  const plan = PLANNERS[condition.op] as PlanOperator<Operator>;
  return plan(condition, { column, path: under(condition.path, "value"), findings });
}

function planPattern(
  pattern: string,
  how: { readonly negated: boolean; readonly ignoresCase?: true },
  { column, path }: Site,
): Predicate {
  return { kind: "like", column, pattern, path, ...how };
}

/**
 * Returns the pattern of all texts that begin with a text. Postgres has a function for that, but it
 * can use an index only from version 15.
 * @see Q104, Q110
 */
function matchBeginning(text: string): string {
  return `${text.replace(/[\\%_]/g, "\\$&")}%`;
}

/** Operators that an error suggests to replace with `like` if a type lacks them. */
const PART_OF_TEXT: ReadonlySet<Operator> = new Set<Operator>(
  ["contains", "starts_with", "ilike", "not_ilike"],
);

/** Says what to use in place of an operator that the column's type does not have. */
function suggestOperators(operator: Operator, column: Column): string {
  const operators = operatorsOf(column).join(", ");
  if (!PART_OF_TEXT.has(operator) || column.container !== undefined) return `one of ${operators}`;
  const like = operator === "contains" ? "like" : "like, which works on its text,";
  const pattern = operator === "starts_with" ? '"text%"' : '"%text%"';
  return `${like} with ${pattern}; it has ${operators}`;
}

/**
 * Lists the operators that a column's type has, in the order in which Get Fields lists them.
 * @see T50
 */
export function operatorsOf(column: Column): readonly Operator[] {
  return OPERATOR_NAMES.filter((op) => hasOperator(column, op));
}

/** `eq null` and `neq null` test for null, which every type can do. */
function isNullTest(condition: Condition): boolean {
  return (condition.op === "eq" || condition.op === "neq") && condition.value === null;
}

/** Describes the issue of an operator that a column's type does not have. @see Q54 */
export function describeUnfitOperator(operator: string, column: Column, expected: string): string {
  return `${quote(operator)} does not work on column ${quote(column.name)} of type ` +
    `${column.type}, expected ${expected}`;
}

/**
 * Compares a column with a scalar; null means IS NULL for `=` and IS NOT NULL for `<>`.
 * @see Q42, Q43, U5
 */
export function planComparison(
  value: Scalar,
  comparison: Comparison,
  site: Site,
): Predicate | undefined {
  const { column } = site;
  if (value === null) return { kind: "null", column, negated: comparison === "<>" };
  const planned = planValue(value, site);
  return planned && { kind: "compare", column, comparison, value: planned };
}

/** A null in the list adds "or is null" to `in`, "and is not null" to `not_in`. */
function planMember(
  list: readonly Scalar[],
  { negated }: { readonly negated: boolean },
  { column, path, findings }: Site,
): Predicate {
  const values: Value[] = [];
  let hasNull = false;
  list.forEach((value, position) => {
    if (findings.issues.length >= MAX_REPORTED_ISSUES) return;
    if (value === null) hasNull = true;
    else {
      const planned = planValue(value, { column, path: under(path, position), findings });
      if (planned !== undefined) values.push(planned);
    }
  });
  const items: Predicate[] = splitByZone(values).filter((values) => values.length > 0)
    .map((values) => ({ kind: "member", column, negated, values }));
  if (hasNull) items.push({ kind: "null", column, negated });
  return items.length === 1 ? items[0]! : { kind: negated ? "and" : "or", items };
}

function planBetween(
  bounds: readonly Exclude<Scalar, null>[],
  { column, path, findings }: Site,
): Predicate | undefined {
  const [low, high] = bounds.map((value, position) =>
    planValue(value, { column, path: under(path, position), findings })
  );
  return low && high && { kind: "between", column, low, high };
}

function planValue(
  value: Exclude<Scalar, null>,
  { column, path, findings }: Site,
): Value | undefined {
  const literal = path === null || typeof value !== "number"
    ? undefined
    : findings.source.literalsIn(path.holder)?.[path.key];
  const { maxTsqueryCharacters } = findings;
  const checked = checkScalar(value, column, { literal, maxTsqueryCharacters });
  if ("text" in checked) {
    const { text, zoned, bare } = checked;
    return { text, zoned: zoned === true, bare: bare === true, certain: isCertain(column), path };
  }
  findings.issues.push({
    path,
    message: `${quote(value)} does not fit column ${quote(column.name)} of type ${column.type}, ` +
      `expected ${checked.expected}`,
  });
  return undefined;
}

/** Plans an equality of an update, as a query would plan an `eq` condition with the same value. */
export function planEquality(
  { field, value, holder }: { field: string; value: Scalar; holder: Path },
  table: Table,
  findings: Findings,
): Predicate | undefined {
  const path = under(holder, field);
  const column = resolveColumn(table, field, { path, findings });
  if (column === undefined) return undefined;
  if (value !== null && !column.equality) {
    findings.issues.push({ path, message: describeUnfitOperator("=", column, "null") });
    return undefined;
  }
  return planComparison(value, "=", { column, path, findings });
}
