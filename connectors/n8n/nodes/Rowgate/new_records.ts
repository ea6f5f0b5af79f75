import type { IDataObject, IExecuteFunctions } from "n8n-workflow";
import { NodeOperationError } from "n8n-workflow";
import { onTable, send } from "../../shared/request";
import { makeFields, readJson } from "../../shared/values";
import { acceptNumbers, prefer, preferGoingOn, readFlag, readLines, readOnce } from "./parameters";

/** Creates one record for each item, all of them or none. */
export async function create(
  node: IExecuteFunctions,
  itemIndexes: readonly number[],
): Promise<IDataObject[]> {
  const results = await write(node, itemIndexes, { method: "POST", body: {} });
  return results.map((result) =>
    "error" in result ? result : (result["record"] ?? result["key"] ?? {}) as IDataObject
  );
}

/** Creates one record for each item, or updates the one that has its match values; all or none. */
export async function upsert(
  node: IExecuteFunctions,
  itemIndexes: readonly number[],
): Promise<IDataObject[]> {
  const match = readOnce(node, "match", itemIndexes);
  if (typeof match !== "string" || match === "") {
    throw new NodeOperationError(node.getNode(), "Match By: expected the fields of a unique key");
  }
  const names = match.split(",").map((name) => name.trim());
  return await write(node, itemIndexes, { method: "PUT", body: { match: names } });
}

interface Write {
  readonly method: "POST" | "PUT";
  /** What the body has beside the records. */
  readonly body: IDataObject;
}

async function write(
  node: IExecuteFunctions,
  itemIndexes: readonly number[],
  { method, body: more }: Write,
): Promise<IDataObject[]> {
  const [first = 0] = itemIndexes;
  const keyOnly = readFlag(node, "keyOnly", first);
  const { body } = await send(node, {
    method,
    path: onTable(readOnce(node, "table", itemIndexes) as string, "records"),
    body: { ...more, records: itemIndexes.map((itemIndex) => readRecord(node, itemIndex)) },
    headers: {
      ...prefer(
        node,
        first,
        ...preferGoingOn(node, itemIndexes),
        ...(keyOnly ? [] : ["return=representation"]),
      ),
      ...readKey(node, first),
      accept: acceptNumbers(node, first),
    },
    itemIndex: first,
  });
  return body["results"] as IDataObject[];
}

/** Reads a new record: lines of the form, or a whole object. */
function readRecord(node: IExecuteFunctions, itemIndex: number): IDataObject {
  const mode = node.getNodeParameter("recordMode", itemIndex) as string;
  if (mode === "fields") return makeFields(readLines(node, "fields", itemIndex), node.getNode());
  if (mode === "json") {
    return readJson(node.getNodeParameter("recordJson", itemIndex), node.getNode()) as IDataObject;
  }
  throw new NodeOperationError(node.getNode(), "Record: expected Fields or JSON", { itemIndex });
}

/** Reads the option by which a repeated request is recognised. */
function readKey(node: IExecuteFunctions, itemIndex: number): Record<string, string> {
  const options = node.getNodeParameter("options", itemIndex) as { idempotencyKey?: unknown };
  if (!("idempotencyKey" in options)) return {};
  const { idempotencyKey } = options;
  if (typeof idempotencyKey === "string" && /^[\x20-\x7e]{1,255}$/.test(idempotencyKey)) {
    return { "idempotency-key": JSON.stringify(idempotencyKey) };
  }
  const message = "Idempotency Key: expected a text of 1 to 255 ASCII characters";
  throw new NodeOperationError(node.getNode(), message, { itemIndex });
}
