import type { IDataObject, INode } from "n8n-workflow";
import { NodeOperationError } from "n8n-workflow";
import { parseExactly } from "./exact_json";

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

/**
 * Makes a condition of Rowgate.
 * @throws {NodeOperationError} if an expression gave null, which would mean "is null"
 */
export function makeCondition(
  { field, op, value }: ConditionInput,
  node: INode,
): IDataObject {
  if (WITHOUT_VALUE.includes(op)) return { field, op };
  if (value === null) throw rejectNull(field, "the operator Is Null", node);
  return { field, op, value: makeOperand(op, value, node) as string };
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

/**
 * Makes an object of fields and their values.
 * @throws {NodeOperationError} if a field is there twice: only one of its lines could be sent
 */
export function makeFields(
  inputs: readonly FieldInput[],
  node: INode,
): IDataObject {
  const names = inputs.map(({ field }) => field);
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice !== undefined) {
    throw new NodeOperationError(
      node,
      `"${twice}" is there twice, expected one line for each field`,
    );
  }
  return Object.fromEntries(
    inputs.map((input) => [input.field, makeValue(input, node)]),
  );
}

/** Makes the filter of an update. An expression that gave null does not mean "is null". */
export function makeFilters(inputs: readonly FieldInput[], node: INode): IDataObject {
  const empty = inputs.find(({ kind, value }) => kind !== "null" && value === null);
  if (empty !== undefined) throw rejectNull(empty.field, "the kind Null", node);
  return makeFields(inputs, node);
}

function rejectNull(field: string, instead: string, node: INode): NodeOperationError {
  const message = `${field}: the value is null, choose ${instead} to match records without a value`;
  return new NodeOperationError(node, message);
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
    return parseExactly(value);
  } catch (error) {
    throw new NodeOperationError(node, (error as Error).message);
  }
}
