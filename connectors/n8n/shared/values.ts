import type { IDataObject, INode } from "n8n-workflow";
import { NodeOperationError } from "n8n-workflow";

/** One condition as the form of the node gives it. */
export interface ConditionInput {
  field: string;
  op: string;
  value?: unknown;
}

/** One field and its value as the form gives it. */
export interface FieldInput {
  field: string;
  kind: "value" | "json" | "null";
  value?: unknown;
}

const WITHOUT_VALUE = ["is_null", "is_not_null"];
const WITH_LIST = ["in", "not_in", "between"];

/** Makes a condition of Rowgate. */
export function makeCondition(
  { field, op, value }: ConditionInput,
  node: INode,
): IDataObject {
  return WITHOUT_VALUE.includes(op)
    ? { field, op }
    : { field, op, value: makeOperand(op, value, node) as string };
}

/** A list is an array, or a text with commas between its values; what is contained may be JSON. */
function makeOperand(op: string, value: unknown, node: INode): unknown {
  if (typeof value !== "string") return value;
  if (WITH_LIST.includes(op)) {
    return /^\s*\[/.test(value)
      ? readJson(value, node)
      : value.split(",").map((part) => part.trim());
  }
  return op === "contains" && /^\s*[[{]/.test(value) ? readJson(value, node) : value;
}

/** Makes an object of fields and their values. */
export function makeFields(
  inputs: readonly FieldInput[],
  node: INode,
): IDataObject {
  return Object.fromEntries(
    inputs.map((input) => [input.field, makeValue(input, node)]),
  );
}

function makeValue(
  { kind, value }: FieldInput,
  node: INode,
): IDataObject[string] {
  if (kind === "null") return null;
  return (kind === "json" ? readJson(value, node) : value) as IDataObject[
    string
  ];
}

/** Reads JSON; an expression may have given an object already. */
export function readJson(value: unknown, node: INode): unknown {
  if (typeof value !== "string") return value;
  try {
    return JSON.parse(value);
  } catch {
    throw new NodeOperationError(node, `"${value.slice(0, 80)}" is not JSON`);
  }
}
