import { createRecords } from "./create_records.ts";
import { createWebhook } from "./create_webhook.ts";
import { deleteBulk } from "./delete_bulk.ts";
import { deleteSingle } from "./delete_single.ts";
import { deleteWebhook } from "./delete_webhook.ts";
import { describeToken } from "./describe_token.ts";
import { getSingle } from "./get_single.ts";
import { getWebhook } from "./get_webhook.ts";
import { listChanges } from "./list_changes.ts";
import { listFields } from "./list_fields.ts";
import { listTables } from "./list_tables.ts";
import { listWebhooks } from "./list_webhooks.ts";
import type { DescribedOperation } from "./operation.ts";
import { queryRecords } from "./query_records.ts";
import { updateBatch } from "./update_batch.ts";
import { updateBulk } from "./update_bulk.ts";
import { updateSingle } from "./update_single.ts";
import { upsertRecords } from "./upsert_records.ts";

/**
 * Every operation that takes a token, but for the OpenAPI document, which is made from this list. A new
 * one is one entry here and its file beside this one; its example is recorded by `test/openapi`.
 * @see S7
 */
export const OPERATIONS: readonly DescribedOperation[] = [
  queryRecords,
  getSingle,
  updateSingle,
  updateBulk,
  updateBatch,
  createRecords,
  upsertRecords,
  deleteSingle,
  deleteBulk,
  listChanges,
  listTables,
  listFields,
  describeToken,
  createWebhook,
  listWebhooks,
  getWebhook,
  deleteWebhook,
];
