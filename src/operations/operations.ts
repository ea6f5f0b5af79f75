import { describeInterface, describeToken, listFields, listTables } from "./describe.ts";
import { listChanges } from "./list_changes.ts";
import type { Operation } from "./operation.ts";
import { queryRecords } from "./query_records.ts";
import { updateBatch, updateBulk, updateSingle } from "./update_records.ts";
import { createWebhook, deleteWebhook, describeOneWebhook, listWebhooks } from "./webhooks.ts";

/**
 * Every operation that takes a token. A new one is one entry here and its file beside this one. The
 * unit test of this list fails until `interface/openapi/operations.ts` describes it too; its example
 * there is recorded by `test/openapi`. What no check asks for: the request that the console suggests
 * (`console/sample_request.ts`), a method of the typed client (`client/`), and the documentation.
 * @see S7
 */
export const OPERATIONS: readonly Operation[] = [
  queryRecords,
  updateSingle,
  updateBulk,
  updateBatch,
  listChanges,
  listTables,
  listFields,
  describeToken,
  createWebhook,
  listWebhooks,
  describeOneWebhook,
  deleteWebhook,
  describeInterface,
];
