import { OPERATOR_LABELS } from "../../describe/reference/operator_texts.ts";
import type { FilterNode, GroupNode } from "../filter_tree.ts";

const MAX_VALUE_CHARACTERS = 40;
const MAX_VALUES = 3;

/** Says what a filter asks for, on one line: `status in placed, paid`, `total ≥ 500 or note is NULL`. */
export function describeFilter(node: FilterNode): string {
  if (node.kind === "group") return describeGroup(node);
  const { field, op, values } = node;
  const shown = values.slice(0, MAX_VALUES).map(cut);
  const text = op === "between"
    ? shown.join(" and ")
    : shown.join(", ") + (values.length > MAX_VALUES ? `, … (${values.length})` : "");
  return `${field} ${OPERATOR_LABELS[op]} ${text}`.trim();
}

function describeGroup({ combine, items }: GroupNode): string {
  if (items.length === 0) return combine === "and" ? "every row" : "no row";
  return items.map((item) =>
    item.kind === "group" && item.items.length > 1
      ? `(${describeFilter(item)})`
      : describeFilter(item)
  ).join(` ${combine} `);
}

function cut(text: string): string {
  if (text === "") return "“”";
  return text.length > MAX_VALUE_CHARACTERS ? `${text.slice(0, MAX_VALUE_CHARACTERS)}…` : text;
}
