import type { Catalogue, Table } from "../../../catalogue/catalogue.ts";
import { MAX_NAMED_TABLES, NAME_PATTERN } from "../../../basics/errors/limits.ts";
import { findOpenTables } from "../../../operations/describe_tables.ts";
import { type JsonSchema, objectOf } from "../../../operations/schemas/json_schema.ts";
import { describeQueryBody } from "../../../operations/schemas/request_schemas.ts";
import type { Properties } from "../../../operations/tools/tool_definition.ts";
import type { Tool } from "../../../operations/tools/tool.ts";
import { TOOLS } from "../../../operations/tools/tools.ts";
import type { Access } from "../../../access/tokens/token.ts";

/** A tool, as it is listed for an agent's program. */
export interface ListedTool {
  readonly name: string;
  readonly inputSchema: JsonSchema & { readonly type: "object" };
  readonly title: string;
  readonly description: string;
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
/** Nothing that is there is changed. */
const ADDS: ToolAnnotations = { ...READS, readOnlyHint: false, idempotentHint: false };

/** The schemas of requests, which refer to each other within the schema of a tool. */
const QUERY_SCHEMAS = describeQueryBody((name) => `#/$defs/${name}`);

/**
 * Describes the tools that a token may use. A tool that its scopes do not allow, or that none of its
 * tables supports, is left out.
 * @see MC4, MC5, MC6, MC7
 */
export function describeTools(catalogue: Catalogue, access: Access): readonly ListedTool[] {
  const open = findOpenTables(catalogue, access);
  return TOOLS.flatMap((tool) => {
    const { name, title, description, scopes, isPossible, writes, adds } = tool;
    if (!scopes.every((scope) => access.scopes.includes(scope))) return [];
    const tables = isPossible && open.filter(isPossible);
    if (scopes.length > 0 && tables?.length === 0) return [];
    const inputSchema = describeArguments(tool, tables);
    const annotations = adds ? ADDS : writes ? WRITES : READS;
    return [{ name, inputSchema, title, description, annotations }];
  });
}

/** Describes the arguments of a tool, from the schemas of its request. @see MC7, MC8 */
function describeArguments(
  { properties, optional }: Tool,
  tables: readonly Table[] | undefined,
): JsonSchema & { readonly type: "object" } {
  const all = tables === undefined
    ? properties
    : { table: describeTableName(tables.map(({ name }) => name)), ...properties };
  const definitions = findReferred(properties);
  return {
    ...objectOf(all, optional),
    type: "object",
    ...(Object.keys(definitions).length > 0 && { $defs: definitions }),
  };
}

/** Returns the schemas that a schema refers to, directly or indirectly. */
function findReferred(schema: unknown, found: Record<string, JsonSchema> = {}): Properties {
  for (const [, name] of JSON.stringify(schema).matchAll(/"#\/\$defs\/([A-Za-z]+)"/g)) {
    const referred = QUERY_SCHEMAS[name!];
    if (referred === undefined || name! in found) continue;
    found[name!] = referred;
    findReferred(referred, found);
  }
  return found;
}

const SHOWN_NAMES = 5;

/** Names all tables or, if that would make the list of tools long, some. @see MC7 */
function describeTableName(names: readonly string[]): JsonSchema {
  if (names.length <= MAX_NAMED_TABLES) return { type: "string", enum: names };
  const shown = names.slice(0, SHOWN_NAMES).join(", ");
  return {
    type: "string",
    pattern: NAME_PATTERN.source,
    description: `One of ${names.length} tables, such as ${shown}; list_tables lists them.`,
  };
}
