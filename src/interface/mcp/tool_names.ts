/** A tool for agents. */
export type ToolName = (typeof TOOL_NAMES)[number];

/** Every tool for agents, in the order in which they are listed. @see MC4 */
export const TOOL_NAMES = [
  "list_tables",
  "describe_table",
  "query_records",
  "list_changes",
  "preview_update",
  "update_record",
  "update_records",
] as const;

/** Reports whether a name is that of a tool. */
export function isToolName(name: unknown): name is ToolName {
  return TOOL_NAMES.some((tool) => tool === name);
}
