/** Names that clients use since before there was a rule. */
const OPERATION_IDS: Readonly<Record<string, string>> = {
  get_single: "getSingleRecord",
  update_single: "updateSingleRecord",
  update_bulk: "updateBulkRecords",
  update_batch: "updateBatchOfRecords",
  delete_single: "deleteSingleRecord",
  delete_bulk: "deleteBulkRecords",
  list_tables: "getTables",
  list_fields: "getFields",
  describe_token: "getToken",
};
const TOOL_NAMES: Readonly<Record<string, string>> = {
  list_fields: "describe_table",
  get_single: "get_record",
  update_single: "update_record",
  update_bulk: "update_records",
  delete_single: "delete_record",
  delete_bulk: "delete_records",
};

/** Returns the `operationId` of an operation: its name in camel case. @see H20 */
export function toOperationId(name: string): string {
  return OPERATION_IDS[name] ?? name.replace(/_([a-z])/g, (_, letter) => letter.toUpperCase());
}

/** Returns the name of the tool that stands for an operation: the same name. @see MC4 */
export function toToolName(name: string): string {
  return TOOL_NAMES[name] ?? name;
}
