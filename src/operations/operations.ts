import { describeOpenApi, describeToken, listFields, listTables } from "./describe.ts";
import type { Operation } from "./operation.ts";
import { queryRecords } from "./query_records.ts";
import { updateBulk, updateSingle } from "./update_records.ts";

/**
 * Every operation that takes a token. A new one is one entry here, its file beside this one, and a
 * file in each room that it needs.
 * @see S7
 */
export const OPERATIONS: readonly Operation[] = [
  queryRecords,
  updateSingle,
  updateBulk,
  listTables,
  listFields,
  describeToken,
  describeOpenApi,
];
