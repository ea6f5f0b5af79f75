import {
  MAX_CHANGES,
  MAX_IDEMPOTENCY_KEY_CHARACTERS,
  MAX_WAIT_SECONDS,
  NAME_PATTERN,
} from "../../errors/limits.ts";
import { type JsonSchema, objectOf } from "../openapi/json_schema.ts";
import { describeQueryBody } from "../openapi/request_schemas.ts";
import { describeAnyTable } from "../openapi/response_schemas.ts";
import type { ToolName } from "./tool_names.ts";

/** The tables that a tool can be used on. */
export interface TableChoice {
  readonly names: readonly string[];
  /** Most tables of which all names are listed. */
  readonly named: number;
}

type Properties = Readonly<Record<string, JsonSchema>>;

/** The schemas of requests, which refer to each other within the schema of a tool. */
const QUERY_SCHEMAS = describeQueryBody((name) => `#/$defs/${name}`);
const UPDATE_SCHEMAS = describeAnyTable((name) => ({ $ref: `#/$defs/${name}` }));
const QUERY = QUERY_SCHEMAS.Query!.properties as Properties;
const UPDATE = UPDATE_SCHEMAS.Update!.properties as Properties;

const CONTAINS: JsonSchema = {
  type: "string",
  description: "Only those whose name or comment contains this text, in any case.",
};
const MAX_AFFECTED: JsonSchema = {
  type: "integer",
  minimum: 0,
  description:
    "How many records may match, those that have the values already included. If more match, it is an " +
    "error that says how many, and nothing changes.",
};

const IDEMPOTENCY_KEY: JsonSchema = {
  type: "string",
  minLength: 1,
  maxLength: MAX_IDEMPOTENCY_KEY_CHARACTERS,
  pattern: "^[ -~]+$",
  description:
    "New for each update, such as a UUID. If the result is lost, call again with the same arguments " +
    "and key: the update is not done twice, and the result is that of the first call.",
};
const PAGE_TOKEN: JsonSchema = {
  type: "string",
  description:
    "start: begin with the first page, and if there are more the result has `next_page_token`. Else " +
    "that token, with the same filters and sort and without `page`. No record is skipped or repeated.",
};

const PREVIEWED: JsonSchema = {
  type: "string",
  enum: ["update_records", "update_record"],
  description: "Which update is previewed; update_records if left out.",
};

/** Describes the arguments of a tool, from the schemas of its request. @see MC7, MC8 */
export function describeArguments(
  name: ToolName,
  choice: TableChoice,
): JsonSchema & { readonly type: "object" } {
  const { properties, optional = [] } = describeOwn(name);
  const all = name === "list_tables"
    ? properties
    : { table: describeTableName(choice), ...properties };
  const definitions = findReferred(properties);
  return {
    ...objectOf(all, optional),
    type: "object",
    ...(Object.keys(definitions).length > 0 && { $defs: definitions }),
  };
}

/** The arguments of a tool besides the table. */
interface OwnArguments {
  readonly properties: Properties;
  readonly optional?: readonly string[];
}

function describeOwn(name: ToolName): OwnArguments {
  switch (name) {
    case "list_tables":
    case "describe_table":
      return { properties: { contains: CONTAINS }, optional: ["contains"] };
    case "query_records":
      return {
        properties: { ...QUERY, page_token: PAGE_TOKEN },
        optional: [...Object.keys(QUERY), "page_token"],
      };
    case "list_changes":
      return { properties: CHANGES, optional: Object.keys(CHANGES) };
    case "preview_update":
      return {
        properties: { ...UPDATE, tool: PREVIEWED, max_affected: MAX_AFFECTED },
        optional: ["tool", "max_affected"],
      };
    case "update_record":
      return {
        properties: { ...UPDATE, idempotency_key: IDEMPOTENCY_KEY },
        optional: ["idempotency_key"],
      };
    case "update_records":
      return {
        properties: { ...UPDATE, max_affected: MAX_AFFECTED, idempotency_key: IDEMPOTENCY_KEY },
        optional: ["idempotency_key"],
      };
  }
}

const CHANGES: Properties = {
  since: {
    type: "string",
    description:
      "start, or left out: every record first. now: what changes from now on. Else a `cursor`.",
  },
  limit: { type: "integer", minimum: 1, maximum: MAX_CHANGES, description: "200 if left out." },
  wait: {
    type: "integer",
    minimum: 0,
    maximum: MAX_WAIT_SECONDS,
    description: "Seconds to wait for a change if there is none yet; 0 if left out.",
  },
  fields: {
    type: "array",
    items: { type: "string", pattern: NAME_PATTERN.source },
    description: "Columns of the records; all if left out or empty.",
  },
};

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
function describeTableName({ names, named }: TableChoice): JsonSchema {
  if (names.length <= named) return { type: "string", enum: names };
  const shown = names.slice(0, SHOWN_NAMES).join(", ");
  return {
    type: "string",
    pattern: NAME_PATTERN.source,
    description: `One of ${names.length} tables, such as ${shown}; list_tables lists them.`,
  };
}
