import type { Catalogue, Table } from "../../catalogue/catalogue.ts";
import { MAX_NAMED_TABLES, MAX_TOOL_RESULT_BYTES } from "../../errors/limits.ts";
import type { Access } from "../../tokens/token.ts";
import { findOpenTables } from "../describe_tables.ts";
import type { JsonSchema } from "../openapi/json_schema.ts";
import { describeArguments } from "./describe_arguments.ts";
import { TOOL_NAMES, type ToolName } from "./tool_names.ts";

/** A tool, as it is listed for an agent's program. */
export interface Tool {
  readonly name: ToolName;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: JsonSchema & { readonly type: "object" };
  readonly annotations: ToolAnnotations;
}

/** The effects of a tool, for programs that ask a person before writing. @see MC6 */
export interface ToolAnnotations {
  readonly readOnlyHint: boolean;
  readonly destructiveHint: boolean;
  readonly idempotentHint: boolean;
  readonly openWorldHint: false;
}

const READS: ToolAnnotations = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
};
/** Values are overwritten; setting them again changes nothing. */
const WRITES: ToolAnnotations = { ...READS, readOnlyHint: false, destructiveHint: true };

const CUT =
  `A result has at most ${MAX_TOOL_RESULT_BYTES} bytes; one that is cut says so in \`note\`.`;

const TEXTS: Readonly<Record<ToolName, Pick<Tool, "title" | "description" | "annotations">>> = {
  list_tables: {
    title: "List tables",
    description:
      "Lists the tables that the token gives access to: primary key, whether records can be updated " +
      `(\`writable\`), whether list_changes can be used (\`changes\`). Begin here. ${CUT}`,
    annotations: READS,
  },
  describe_table: {
    title: "Describe a table",
    description:
      "Lists the columns of a table: type, whether they can be null or written, the operators that " +
      `filters on them allow, the labels of enums. Call it before querying or updating. ${CUT}`,
    annotations: READS,
  },
  query_records: {
    title: "Query records",
    description:
      "Returns one page of the records that match nested filters, and in `total` how many match in " +
      'all. Example: {"filters":{"and":[{"field":"status","op":"eq","value":"open"}]},"select":' +
      '["id","status"],"sort":[{"field":"id","direction":"desc"}],"per_page":20}. Select only the ' +
      `columns that you need. There are no sums, groups or joins. ${CUT}`,
    annotations: READS,
  },
  list_changes: {
    title: "List changes",
    description:
      "Lists the records of a table that changed since a `cursor`, as they are now; of a deleted one " +
      "there is only the key. `since` now gives a cursor to begin with, start gives every record " +
      "first. While `more` is true, call it again with the cursor of the result. Nothing is cut.",
    annotations: READS,
  },
  preview_update: {
    title: "Preview an update",
    description:
      "Runs an update with its triggers and constraints, and rolls it back: nothing is changed. " +
      "`updated` is how many records would change; those that match but have the values already are " +
      "not counted. Previews update_records unless `tool` says update_record.",
    annotations: READS,
  },
  update_record: {
    title: "Update one record",
    description:
      "Changes fields of exactly one record. It is an error, and nothing changes, if no record " +
      "matches or several do. `filters` are columns and the values that they must equal, best those " +
      "of the primary key. `updated` is 0 if the record has the values already.",
    annotations: WRITES,
  },
  update_records: {
    title: "Update several records",
    description:
      "Changes fields of every record that matches. `filters` are columns and the values that they " +
      "must equal. If more than `max_affected` records match, it is an error and nothing changes. Try " +
      "preview_update first, with the same filters, fields and max_affected.",
    annotations: WRITES,
  },
};

/**
 * Describes the tools that a token may use. A tool that its scopes do not allow, or that none of its
 * tables supports, is left out.
 * @see MC4, MC5, MC6, MC7
 */
export function describeTools(catalogue: Catalogue, access: Access): readonly Tool[] {
  const open = findOpenTables(catalogue, access);
  return TOOL_NAMES.flatMap((name) => {
    const tables = findTablesOf(name, { open, access });
    if (tables === undefined) return [];
    const names = tables.map((table) => table.name);
    const inputSchema = describeArguments(name, { names, named: MAX_NAMED_TABLES });
    return [{ name, inputSchema, ...TEXTS[name] }];
  });
}

/** Returns the tables on which a tool can be used; undefined if the token cannot use it at all. */
function findTablesOf(
  name: ToolName,
  { open, access: { scopes } }: { readonly open: readonly Table[]; readonly access: Access },
): readonly Table[] | undefined {
  if (name === "list_tables" || name === "describe_table") return open;
  const writes = name !== "query_records" && name !== "list_changes";
  if (!scopes.includes(writes ? "update" : "query")) return undefined;
  const tables = open.filter((table) =>
    writes ? table.writable : name === "query_records" || table.feed !== undefined
  );
  return tables.length === 0 ? undefined : tables;
}
