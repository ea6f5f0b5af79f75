import type { Operator } from "../request/operators.ts";
import { MAX_CONDITIONS, MAX_GROUP_DEPTH } from "../errors/limits.ts";
import { countValues, type Field } from "./field.ts";
import { writeValue } from "./value.ts";

/** A condition that a person builds; `values` as they were typed. */
export interface ConditionNode {
  readonly kind: "condition";
  readonly id: number;
  readonly field: string;
  readonly op: Operator;
  readonly values: readonly string[];
}

/** A group that a person builds. */
export interface GroupNode {
  readonly kind: "group";
  readonly id: number;
  readonly combine: "and" | "or";
  readonly items: readonly FilterNode[];
}

/** What stands in a group. */
export type FilterNode = ConditionNode | GroupNode;

let lastId = 0;

/** Makes an empty group. */
export function makeGroup(combine: "and" | "or" = "and"): GroupNode {
  return { kind: "group", id: ++lastId, combine, items: [] };
}

/** Makes a condition on a column, with the first operator that it admits. */
export function makeCondition(field: Field): ConditionNode {
  const op = field.operators[0] ?? "is_null";
  return { kind: "condition", id: ++lastId, field: field.name, op, values: fitValues(op, []) };
}

/** Gives as many values as the operator takes. */
export function fitValues(op: Operator, values: readonly string[]): readonly string[] {
  const count = countValues(op);
  if (count === undefined) return values.length === 0 ? [""] : values;
  return Array.from({ length: count }, (_, at) => values[at] ?? "");
}

/** Puts another node in the place of the one with its id; undefined takes it away. */
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

/** Counts the conditions of the whole tree. */
export function countConditions(node: FilterNode): number {
  if (node.kind === "condition") return 1;
  return node.items.reduce((sum, item) => sum + countConditions(item), 0);
}

/** Tells what may still be added to a group of a depth; the outermost is 1. @see L1, L3 */
export function readRoom(
  root: GroupNode,
  depth: number,
): { readonly condition: boolean; readonly group: boolean } {
  return { condition: countConditions(root) < MAX_CONDITIONS, group: depth < MAX_GROUP_DEPTH };
}

/** Gives a node as it goes over the wire, each one at the place that it has on the screen. */
export function writeFilter(node: FilterNode, fields: ReadonlyMap<string, Field>): unknown {
  if (node.kind === "group") {
    return { [node.combine]: node.items.map((item) => writeFilter(item, fields)) };
  }
  const { field, op, values } = node;
  const type = op === "like" || op === "not_like" ? undefined : fields.get(field)?.type;
  const written = values.map((text) => writeValue(text, type));
  const count = countValues(op);
  if (count === 0) return { field, op };
  return { field, op, value: count === 1 ? written[0] : written };
}

/** The place of a finding within one condition or group. */
export interface Place {
  readonly id: number;
  /** `field`, `op`, `value`; empty: the whole. */
  readonly part: string;
  /** Which of the values; undefined: all. */
  readonly index: number | undefined;
}

/** Finds the node that a path of an error names: `filters.and[1].or[0].value[2]`. */
export function locate(root: GroupNode, path: string): Place | undefined {
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
