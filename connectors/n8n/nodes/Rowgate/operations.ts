import type { IDataObject, IExecuteFunctions } from "n8n-workflow";
import { NodeOperationError } from "n8n-workflow";
import { findNextPage, onTable, send } from "../../shared/request";
import {
  type ConditionInput,
  makeCondition,
  makeFields,
  makeFilters,
  readJson,
} from "../../shared/values";
import { acceptNumbers, prefer, preferGoingOn, readLines, readOnce } from "./parameters";

const LARGEST_PAGE = 200;

/** Gets the records that match, page by page; none is skipped or given twice meanwhile. */
export async function getMany(
  node: IExecuteFunctions,
  itemIndex: number,
): Promise<IDataObject[]> {
  const table = node.getNodeParameter("table", itemIndex) as string;
  const limit = node.getNodeParameter("returnAll", itemIndex) as boolean
    ? Infinity
    : node.getNodeParameter("limit", itemIndex) as number;
  const sort = node.getNodeParameter(
    "sort.item",
    itemIndex,
    [],
  ) as IDataObject[];
  const { select } = node.getNodeParameter("options", itemIndex) as { select?: string[] };
  const body: IDataObject = {
    filters: readFilter(node, itemIndex) as IDataObject,
    ...(sort.length > 0 ? { sort } : {}),
    ...(select?.length ? { select } : {}),
    per_page: Math.min(limit, LARGEST_PAGE),
  };
  const headers = {
    prefer: "page-token, count=none",
    accept: acceptNumbers(node, itemIndex),
  };
  const records: IDataObject[] = [];
  let after: string | undefined;
  do {
    const page = await send(node, {
      method: "POST",
      path: onTable(
        table,
        after === undefined ? "query" : `query?after=${after}`,
      ),
      body,
      headers,
      itemIndex,
    });
    records.push(...page.body["records"] as IDataObject[]);
    after = findNextPage(page);
  } while (after !== undefined && records.length < limit);
  return records.slice(0, limit);
}

/** Gets exactly one record. */
export async function get(
  node: IExecuteFunctions,
  itemIndex: number,
): Promise<IDataObject[]> {
  const table = node.getNodeParameter("table", itemIndex) as string;
  const { select } = node.getNodeParameter("options", itemIndex) as { select?: string[] };
  const equal = makeFilters(readLines(node, "filters", itemIndex), node.getNode());
  if (select?.length && "select" in equal) {
    throw new NodeOperationError(
      node.getNode(),
      'This table has a field "select": leave out Fields to Return',
      { itemIndex },
    );
  }
  const { body } = await send(node, {
    path: onTable(table, "records/single"),
    query: { ...equal, ...(select?.length ? { select: select.join() } : {}) },
    headers: { accept: acceptNumbers(node, itemIndex) },
    itemIndex,
  });
  return [body["record"] as IDataObject];
}

function readFilter(node: IExecuteFunctions, itemIndex: number): unknown {
  const mode = node.getNodeParameter("filterMode", itemIndex) as
    | "and"
    | "or"
    | "json";
  if (mode === "json") {
    return readJson(
      node.getNodeParameter("filterJson", itemIndex),
      node.getNode(),
    );
  }
  if (mode !== "and" && mode !== "or") {
    throw new NodeOperationError(
      node.getNode(),
      "Filter: expected All Conditions or Any Condition",
    );
  }
  const inputs = node.getNodeParameter(
    "conditions.condition",
    itemIndex,
    [],
  ) as ConditionInput[];
  // No condition at all means every record, whichever way they are joined.
  return inputs.length === 0
    ? { and: [] }
    : { [mode]: inputs.map((input) => makeCondition(input, node.getNode())) };
}

/** Updates exactly one record. */
export async function update(
  node: IExecuteFunctions,
  itemIndex: number,
): Promise<IDataObject[]> {
  const table = node.getNodeParameter("table", itemIndex) as string;
  const { body } = await send(node, {
    method: "PATCH",
    path: onTable(table, "records/single"),
    body: readUpdate(node, itemIndex),
    headers: prefer(node, itemIndex),
    itemIndex,
  });
  return [{ table, matched: body["matched"], updated: body["updated"] }];
}

/** Updates every record that matches, unless there are more than the limit. */
export async function updateMany(
  node: IExecuteFunctions,
  itemIndex: number,
): Promise<IDataObject[]> {
  const table = node.getNodeParameter("table", itemIndex) as string;
  const limit = node.getNodeParameter("maxAffected", itemIndex) as number;
  const { body } = await send(node, {
    method: "PATCH",
    path: onTable(table, "records/bulk"),
    body: readUpdate(node, itemIndex),
    headers: prefer(node, itemIndex, `max-affected=${limit}`),
    itemIndex,
  });
  return [{ table, updated: body["updated"] }];
}

/** Deletes exactly one record. */
export async function deleteOne(
  node: IExecuteFunctions,
  itemIndex: number,
): Promise<IDataObject[]> {
  const table = node.getNodeParameter("table", itemIndex) as string;
  const { body } = await send(node, {
    method: "DELETE",
    path: onTable(table, "records/single"),
    body: { filters: makeFilters(readLines(node, "filters", itemIndex), node.getNode()) },
    headers: prefer(node, itemIndex),
    itemIndex,
  });
  return [{ table, matched: body["matched"], deleted: body["deleted"] }];
}

/** Deletes every record that matches, unless there are more than the limit. */
export async function deleteMany(
  node: IExecuteFunctions,
  itemIndex: number,
): Promise<IDataObject[]> {
  const table = node.getNodeParameter("table", itemIndex) as string;
  const limit = node.getNodeParameter("maxAffected", itemIndex) as number;
  const { body } = await send(node, {
    method: "DELETE",
    path: onTable(table, "records/bulk"),
    body: { filters: makeFilters(readLines(node, "filters", itemIndex), node.getNode()) },
    headers: prefer(node, itemIndex, `max-affected=${limit}`),
    itemIndex,
  });
  return [{ table, deleted: body["deleted"] }];
}

/** Updates one record for each input item, some in one transaction: all of them or none. */
export async function updateBatch(
  node: IExecuteFunctions,
  itemIndexes: readonly number[],
): Promise<IDataObject[]> {
  const [first = 0] = itemIndexes;
  const table = readOnce(node, "table", itemIndexes) as string;
  const { body } = await send(node, {
    method: "PATCH",
    path: onTable(table, "records/batch"),
    body: {
      updates: itemIndexes.map((itemIndex) => readUpdate(node, itemIndex)),
    },
    headers: prefer(node, first, ...preferGoingOn(node, itemIndexes)),
    itemIndex: first,
  });
  return (body["results"] as IDataObject[]).map((result) => ({ table, ...result }));
}

function readUpdate(node: IExecuteFunctions, itemIndex: number): IDataObject {
  return {
    filters: makeFilters(readLines(node, "filters", itemIndex), node.getNode()),
    fields: makeFields(readLines(node, "fields", itemIndex), node.getNode()),
  };
}
