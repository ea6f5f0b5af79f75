import type { Operator } from "../request/operators.ts";
import { MAX_CONDITIONS, MAX_GROUP_DEPTH } from "../basics/errors/limits.ts";
import { OPERATOR_LABELS } from "../describe/reference/operator_texts.ts";
import type { Field } from "./api.ts";
import { parseExact, writeExact } from "../describe/reference/exact_json.ts";
import { parseValue } from "../describe/reference/example_value.ts";

/** Reports whether the value of an operator is a pattern. */
export function isPatternOperator(op: Operator): boolean {
  return op === "like" || op === "not_like" || op === "ilike" || op === "not_ilike";
}

/** A condition of the filter on the screen; `values` as they were typed. */
export interface ConditionNode {
  readonly kind: "condition";
  readonly id: number;
  readonly field: string;
  readonly op: Operator;
  readonly values: readonly string[];
}

/** A group of the filter on the screen. */
export interface GroupNode {
  readonly kind: "group";
  readonly id: number;
  readonly combine: "and" | "or";
  readonly items: readonly FilterNode[];
}

/** An item of a group. */
export type FilterNode = ConditionNode | GroupNode;

let lastId = 0;

/** Makes an empty group. */
export function makeGroup(combine: "and" | "or" = "and"): GroupNode {
  return { kind: "group", id: ++lastId, combine, items: [] };
}

/** Makes a condition on a column, with the first of its operators. */
export function makeCondition(field: Field): ConditionNode {
  const op = field.operators[0] ?? "is_null";
  return { kind: "condition", id: ++lastId, field: field.name, op, values: fitValues(op, []) };
}

/** How many values an operator takes; undefined: one or more. */
export function countValues(op: Operator): 0 | 1 | 2 | undefined {
  if (op === "is_null" || op === "is_not_null") return 0;
  if (op === "in" || op === "not_in") return undefined;
  return op === "between" ? 2 : 1;
}

/** Cuts or fills a list of values to the number that the operator takes. */
export function fitValues(op: Operator, values: readonly string[]): readonly string[] {
  const count = countValues(op);
  if (count === undefined) return values.length === 0 ? [""] : values;
  return Array.from({ length: count }, (_, at) => values[at] ?? "");
}

/** Replaces the node with an id; a change to undefined removes it. */
export function replaceNode(
  group: GroupNode,
  id: number,
  change: (node: FilterNode) => FilterNode | undefined,
): GroupNode {
  const items = group.items.flatMap((item) => {
    if (item.id === id) return change(item) ?? [];
    return item.kind === "group" ? [replaceNode(item, id, change)] : [item];
  });
  return { ...group, items };
}

/** Counts the conditions of a tree. */
export function countConditions(node: FilterNode): number {
  if (node.kind === "condition") return 1;
  return node.items.reduce((sum, item) => sum + countConditions(item), 0);
}

/** Whether a group may take another condition or group; the depth of the root is 1. @see L1, L3 */
export function findRoom(
  root: GroupNode,
  depth: number,
): { readonly condition: boolean; readonly group: boolean } {
  return { condition: countConditions(root) < MAX_CONDITIONS, group: depth < MAX_GROUP_DEPTH };
}

/**
 * Converts a node to the JSON of a request. Items keep their positions, so that the paths of an error
 * lead back to the screen.
 */
export function writeFilter(node: FilterNode, fields: ReadonlyMap<string, Field>): unknown {
  if (node.kind === "group") {
    return { [node.combine]: node.items.map((item) => writeFilter(item, fields)) };
  }
  const { field, op, values } = node;
  const type = isPatternOperator(op) || op === "starts_with" ? undefined : fields.get(field)?.type;
  const written = values.map((text) =>
    op === "contains" ? parseContained(text) : parseValue(text, type)
  );
  const count = countValues(op);
  if (count === 0) return { field, op };
  return { field, op, value: count === 1 ? written[0] : written };
}

/** JSON if it is an array or object of JSON, or a number; else the text itself. */
function parseContained(text: string): unknown {
  if (!/^\s*[[{"\d-]/.test(text)) return text;
  try {
    return parseExact(text);
  } catch {
    return text;
  }
}

/** Where in the tree an issue belongs. */
export interface NodePlace {
  readonly id: number;
  /** `field`, `op` or `value`; empty: the whole node. */
  readonly part: string;
  /** Which of the values; undefined: all. */
  readonly index: number | undefined;
}

/** Finds the node that the path of an error names: `filters.and[1].or[0].value[2]`. */
export function findNode(root: GroupNode, path: string): NodePlace | undefined {
  if (!/^filters(?![A-Za-z0-9_])/.test(path)) return undefined;
  let node: FilterNode = root;
  let rest = path.slice("filters".length);
  while (node.kind === "group") {
    const step = /^\.(and|or)\[(\d+)\]/.exec(rest);
    const item: FilterNode | undefined = step?.[1] === node.combine
      ? node.items[Number(step[2])]
      : undefined;
    if (step === null || item === undefined) break;
    node = item;
    rest = rest.slice(step[0].length);
  }
  const [, part = "", index] = /^\.(field|op|value)(?:\[(\d+)\])?/.exec(rest) ?? [];
  return { id: node.id, part, index: index === undefined ? undefined : Number(index) };
}

/**
 * Reads the filter of a request, as an address holds it; undefined if it is none. A condition alone
 * becomes a group of one.
 */
export function readFilter(filter: unknown): GroupNode | undefined {
  const node = readNode(filter, 1);
  if (node?.kind !== "condition") return node;
  return { ...makeGroup(), items: [node] };
}

function readNode(json: unknown, depth: number): FilterNode | undefined {
  if (typeof json !== "object" || json === null || depth > MAX_GROUP_DEPTH + 1) return undefined;
  const { and, or, field, op, value } = json as Readonly<Record<string, unknown>>;
  if (typeof field === "string") {
    if (typeof op !== "string" || !Object.hasOwn(OPERATOR_LABELS, op)) return undefined;
    const operator = value === null ? readNull(op as Operator) : op as Operator;
    const values = value === undefined ? [] : Array.isArray(value) ? value : [value];
    const texts = op === "contains" ? [printValue(value)] : values.map(printValue);
    return {
      kind: "condition",
      id: ++lastId,
      field,
      op: operator,
      values: fitValues(operator, texts),
    };
  }
  const items = and ?? or;
  if (!Array.isArray(items)) return undefined;
  const nodes = items.map((item) => readNode(item, depth + 1));
  if (nodes.includes(undefined)) return undefined;
  return { ...makeGroup(and === undefined ? "or" : "and"), items: nodes as readonly FilterNode[] };
}

/** Only `eq` and `neq` take null, and mean these. @see Q42 */
function readNull(op: Operator): Operator {
  return op === "neq" ? "is_not_null" : op === "eq" ? "is_null" : op;
}

function printValue(value: unknown): string {
  return typeof value === "string" ? value : value === undefined ? "" : writeExact(value);
}
