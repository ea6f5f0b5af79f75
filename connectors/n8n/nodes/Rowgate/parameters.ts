import type { IDataObject, IExecuteFunctions } from "n8n-workflow";
import { NodeOperationError } from "n8n-workflow";
import type { FieldInput } from "../../shared/values";

/** Reads the lines of a form: fields and their values. */
export function readLines(
  node: IExecuteFunctions,
  name: string,
  itemIndex: number,
): FieldInput[] {
  return node.getNodeParameter(`${name}.item`, itemIndex, []) as FieldInput[];
}

/**
 * Reads what the items of one request have in common.
 * @throws {NodeOperationError} if an expression gave different values: one would be used for all items
 */
export function readOnce(
  node: IExecuteFunctions,
  name: string,
  itemIndexes: readonly number[],
): unknown {
  const values = itemIndexes.map((itemIndex) => node.getNodeParameter(name, itemIndex));
  if (new Set(values.map((value) => JSON.stringify(value))).size <= 1) return values[0];
  const message = `"${name}" differs between the items, expected one value for a batch`;
  throw new NodeOperationError(node.getNode(), message);
}

/** Reads an option that is on or off. */
export function readFlag(node: IExecuteFunctions, name: string, itemIndex: number): boolean {
  const options = node.getNodeParameter("options", itemIndex) as IDataObject;
  if (!(name in options)) return false;
  const value = options[name];
  if (typeof value === "boolean") return value;
  const label = LABELS[name] ?? name;
  throw new NodeOperationError(node.getNode(), `${label}: expected true or false`, { itemIndex });
}

const LABELS: Readonly<Record<string, string>> = {
  dryRun: "Dry Run",
  keyOnly: "Return the Key Only",
};

/** Makes the header `Prefer` of a write, with Dry Run among its preferences. */
export function prefer(
  node: IExecuteFunctions,
  itemIndex: number,
  ...more: string[]
): Record<string, string> {
  const preferences = [...more, ...(readFlag(node, "dryRun", itemIndex) ? ["tx=rollback"] : [])];
  return preferences.length === 0 ? {} : { prefer: preferences.join(", ") };
}

/** What a batch says if the node is to go on: each item is then written by itself, or has its error. */
export function preferGoingOn(node: IExecuteFunctions, itemIndexes: readonly number[]): string[] {
  return node.continueOnFail() && itemIndexes.length > 1 ? ["on-error=continue"] : [];
}

/** Makes the header `Accept`: large numbers come as text where the option says so. */
export function acceptNumbers(node: IExecuteFunctions, itemIndex: number): string {
  const { largeNumbers } = node.getNodeParameter("options", itemIndex) as {
    largeNumbers?: boolean;
  };
  return largeNumbers ? "application/json;IEEE754Compatible=true" : "application/json";
}
