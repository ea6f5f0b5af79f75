import type { IDataObject, IExecuteFunctions, INodeExecutionData } from "n8n-workflow";
import { NodeOperationError } from "n8n-workflow";
import { findNextPage, onTable, send } from "../../shared/request";
import {
  type ConditionInput,
  type FieldInput,
  makeCondition,
  makeFields,
  makeFilters,
  readJson,
} from "../../shared/values";

const LARGEST_PAGE = 200;
/** Updates of one batch. */
export const LARGEST_BATCH = 200;

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
  const { select, largeNumbers } = node.getNodeParameter(
    "options",
    itemIndex,
  ) as {
    select?: string[];
    largeNumbers?: boolean;
  };
  const body: IDataObject = {
    filters: readFilter(node, itemIndex) as IDataObject,
    ...(sort.length > 0 ? { sort } : {}),
    ...(select?.length ? { select } : {}),
    per_page: Math.min(limit, LARGEST_PAGE),
  };
  const headers = {
    prefer: "page-token, count=none",
    accept: largeNumbers ? "application/json;IEEE754Compatible=true" : "application/json",
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

/** Updates one record for each input item, some in one transaction: all of them or none. */
export async function updateBatch(
  node: IExecuteFunctions,
  itemIndexes: readonly number[],
): Promise<INodeExecutionData[]> {
  const [first = 0] = itemIndexes;
  const table = node.getNodeParameter("table", first) as string;
  const { body } = await send(node, {
    method: "PATCH",
    path: onTable(table, "records/batch"),
    body: {
      updates: itemIndexes.map((itemIndex) => readUpdate(node, itemIndex)),
    },
    headers: prefer(node, first),
    itemIndex: first,
  });
  return (body["results"] as IDataObject[]).map((result, place) => ({
    json: { table, ...result },
    pairedItem: { item: itemIndexes[place] },
  }));
}

function readUpdate(node: IExecuteFunctions, itemIndex: number): IDataObject {
  const read = (name: string) =>
    node.getNodeParameter(`${name}.item`, itemIndex, []) as FieldInput[];
  return {
    filters: makeFilters(read("filters"), node.getNode()),
    fields: makeFields(read("fields"), node.getNode()),
  };
}

function prefer(node: IExecuteFunctions, itemIndex: number, ...more: string[]) {
  const options = node.getNodeParameter("options", itemIndex) as {
    dryRun?: boolean;
  };
  const { dryRun } = options;
  if ("dryRun" in options && typeof dryRun !== "boolean") {
    throw new NodeOperationError(node.getNode(), "Dry Run: expected true or false");
  }
  const preferences = [...more, ...(dryRun ? ["tx=rollback"] : [])];
  return preferences.length === 0 ? undefined : { prefer: preferences.join(", ") };
}
