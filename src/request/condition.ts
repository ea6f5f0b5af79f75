import { type Path, quote, under } from "../basics/errors/issue.ts";
import { check, type Findings, isFull, report } from "./findings.ts";
import { NAME, reportUnknownKey } from "./names.ts";
import {
  describeBadOperator,
  isOperator,
  type Operator,
  OPERATORS,
  type OperatorValue,
  takesPattern,
} from "./operators.ts";

/** A condition of valid shape. `path` is its place: `filters.and[1]`. @see Q17 */
export type Condition =
  & { readonly kind: "condition"; readonly field: string; readonly path: Path }
  & {
    [Op in Operator]: OperatorValue<Op> extends null ? { readonly op: Op }
      : { readonly op: Op; readonly value: OperatorValue<Op> };
  }[Operator];

/** Reports whether the value of a condition is a pattern. */
export function hasPattern(
  condition: Condition,
): condition is Extract<Condition, { readonly value: string }> {
  return takesPattern(condition.op);
}

/** The members of a condition. @see Q20 */
export const CONDITION_KEYS = ["field", "op", "value"] as const;

const EXPECTED = {
  field: "the name of a column",
  op: "an operator such as eq",
  value: "what the operator compares with",
};

/**
 * Checks the shape of a condition; undefined, with issues, when it is not valid.
 * @see Q17, Q18, Q19, Q41
 */
export function parseCondition(
  findings: Findings,
  input: Readonly<Record<string, unknown>>,
  { path }: { readonly path: Path },
): Condition | undefined {
  const before = findings.issues.length;
  const op = isOperator(input.op) ? input.op : undefined;
  const meant: (string | undefined)[] = [];
  let field: string | undefined;
  let value: unknown;
  for (const key of Object.keys(input)) {
    if (isFull(findings)) break;
    const at = under(path, key);
    if (key === "field") field = check(findings, NAME, { value: input.field, path: at });
    else if (key === "op") {
      if (op === undefined) report(findings, at, describeBadOperator(input.op));
    } else if (key === "value") {
      if (op !== undefined) value = checkValue(findings, op, { value: input.value, path: at });
    } else meant.push(reportUnknownKey(findings, key, { path, known: CONDITION_KEYS }));
  }
  for (const key of CONDITION_KEYS) {
    // A misspelt key is one error, not two.
    if (Object.hasOwn(input, key) || meant.includes(key)) continue;
    if (key === "value" && (op === undefined || OPERATORS[op].value === null)) continue;
    report(findings, under(path, key), `${key} is required, expected ${EXPECTED[key]}`);
  }
  if (findings.issues.length > before || isFull(findings)) return undefined;
  const condition = value === undefined ? { field, op } : { field, op, value };
  return { kind: "condition", path, ...condition } as Condition;
}

function checkValue(
  findings: Findings,
  op: Operator,
  place: { readonly value: unknown; readonly path: Path },
): unknown {
  const schema = OPERATORS[op].value;
  if (schema !== null) return check<unknown>(findings, schema, place);
  report(findings, place.path, `${quote(op)} takes no value, expected it to be left out`);
  return undefined;
}
