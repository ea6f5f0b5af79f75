import { EVERYWHERE } from "./description.ts";
import { describeTables } from "./describe_tables.ts";
import type { DescribedOperation } from "./operation.ts";
import { COMMENT, NAMES, objectOf, TEXT, TRUE } from "./schemas/json_schema.ts";
import { CUT } from "./tools/tool_definition.ts";
import { CONTAINS, readTextArgument, rejectOthers } from "./tools/tool_arguments.ts";

/**
 * Get Tables: the tables that the token may use.
 * @see docs/specification/tables-and-fields.md
 */
export const listTables: DescribedOperation = {
  name: "list_tables",
  method: "GET",
  path: "/integration/tables",
  tag: "Catalogue",
  summary: "Get Tables",
  description: "Lists the tables that the token gives access to, by name.",
  parameters: [],
  response: "Tables",
  schemas: {
    Tables: objectOf({
      success: TRUE,
      tables: {
        type: "array",
        items: objectOf({
          name: TEXT,
          primary_key: NAMES,
          writable: { type: "boolean" },
          creatable: { type: "boolean", description: "Whether records can be created in it." },
          deletable: { type: "boolean", description: "Whether its records can be deleted." },
          changes: { type: "boolean", description: "Whether it has a changes feed." },
          comment: COMMENT,
        }),
      },
    }),
  },
  headers: ["ETag"],
  errors: EVERYWHERE,
  tool: {
    title: "List tables",
    description:
      "Lists the tables that the token gives access to: primary key, whether records can be updated " +
      `(\`writable\`), created and deleted, whether list_changes can be used (\`changes\`). Begin here. ${CUT}`,
    writes: false,
    properties: { contains: CONTAINS },
    optional: ["contains"],
    makeRequest(given) {
      rejectOthers(given, ["contains"]);
      readTextArgument(given, "contains");
      return { table: "" };
    },
    result: "tables",
  },
  describe: ({ catalogue, access }) => describeTables(catalogue, access),
  cacheable: true,
};
