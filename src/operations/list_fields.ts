import { OPERATOR_NAMES } from "../request/operators.ts";
import { ON_TABLES } from "./description.ts";
import { describeFields } from "./describe_tables.ts";
import type { DescribedOperation } from "./operation.ts";
import { COMMENT, NAMES, objectOf, TEXT, TRUE } from "./schemas/json_schema.ts";
import { CUT } from "./tools/tool_definition.ts";
import {
  CONTAINS,
  readTableArgument,
  readTextArgument,
  rejectOthers,
} from "./tools/tool_arguments.ts";

const FIELD = objectOf({
  name: TEXT,
  type: {
    type: "string",
    description: "The Postgres name of the type.",
    examples: ["timestamptz"],
  },
  base_type: {
    type: "string",
    description: "The type that a domain, or an array of one, is based on.",
    examples: ["numeric"],
  },
  nullable: { type: "boolean" },
  primary_key: { type: "boolean" },
  writable: { type: "boolean" },
  creatable: { type: "boolean", description: "Whether a new record can set it." },
  required: { type: "boolean", description: "Whether a new record must have it." },
  operators: { type: "array", items: { enum: OPERATOR_NAMES } },
  enum: { ...NAMES, description: "The labels of an enum, in their order." },
  time_zone: {
    ...TEXT,
    description: "The zone of dates and times that have none of their own.",
    examples: ["Europe/Berlin"],
  },
  comment: COMMENT,
}, ["base_type", "enum", "time_zone"]);

/**
 * Get Fields: the columns of a table, and what each takes.
 * @see docs/specification/tables-and-fields.md
 */
export const listFields: DescribedOperation = {
  name: "list_fields",
  method: "GET",
  path: "/integration/tables/:table/fields",
  tag: "Catalogue",
  summary: "Get Fields",
  description:
    "Lists the columns of a table in column order, with the operators that each one allows.",
  parameters: [],
  response: "Fields",
  schemas: {
    Fields: objectOf({
      success: TRUE,
      table: TEXT,
      fields: { type: "array", items: FIELD },
      match_keys: {
        type: "array",
        items: NAMES,
        description: "The unique keys that `match` of an upsert can name.",
      },
    }),
  },
  headers: ["ETag"],
  errors: ON_TABLES,
  sharedFrom: "brief",
  tool: {
    title: "Describe a table",
    description:
      "Lists the columns of a table: type, whether they can be null or written, what a new record needs, the keys that upserts can match by, the operators that " +
      `filters on them allow, the labels of enums. Call it before querying or updating. ${CUT}`,
    writes: false,
    properties: { contains: CONTAINS },
    optional: ["contains"],
    makeRequest(given) {
      rejectOthers(given, ["table", "contains"]);
      readTextArgument(given, "contains");
      return { table: readTableArgument(given) };
    },
    result: "fields",
  },
  describeTable: describeFields,
  cacheable: true,
};
