import { createRecords } from "../create_records.ts";
import { deleteBulk } from "../delete_bulk.ts";
import { deleteSingle } from "../delete_single.ts";
import { getSingle } from "../get_single.ts";
import { listChanges } from "../list_changes.ts";
import { listFields } from "../list_fields.ts";
import { listTables } from "../list_tables.ts";
import { toToolName } from "../names.ts";
import { type DescribedOperation, listScopes } from "../operation.ts";
import { queryRecords } from "../query_records.ts";
import { updateBulk } from "../update_bulk.ts";
import { updateSingle } from "../update_single.ts";
import { upsertRecords } from "../upsert_records.ts";
import { PREVIEW_UPDATE } from "./preview_update.ts";
import type { Tool } from "./tool.ts";

/** Every tool for agents, in the order in which they are listed. @see MC4 */
export const TOOLS: readonly Tool[] = [
  toolOf(listTables),
  toolOf(listFields),
  toolOf(queryRecords),
  toolOf(getSingle),
  toolOf(listChanges),
  PREVIEW_UPDATE,
  toolOf(updateSingle),
  toolOf(updateBulk),
  toolOf(createRecords),
  toolOf(upsertRecords),
  toolOf(deleteSingle),
  toolOf(deleteBulk),
];

/** Makes the tool that stands for an operation. */
function toolOf(operation: DescribedOperation): Tool {
  const { name, path, tables, tool } = operation;
  const onAnyTable = path.includes(":table") ? () => true : undefined;
  return {
    ...tool!,
    name: toToolName(name),
    scopes: listScopes(operation),
    isPossible: tables?.isPossible ?? onAnyTable,
    operationOf: () => operation,
  };
}
