import type { Table } from "../catalogue/catalogue.ts";
import type { JsonSchema } from "./schemas/json_schema.ts";
import type { ParameterName } from "./schemas/parameters.ts";
import type { ToolDefinition } from "./tools/tool_definition.ts";

/** A status of an error response. */
export type ErrorStatus =
  | 400
  | 401
  | 403
  | 404
  | 408
  | 409
  | 410
  | 412
  | 413
  | 415
  | 422
  | 429
  | 500
  | 503
  | 504;

/** The errors of every operation. */
export const EVERYWHERE: readonly ErrorStatus[] = [400, 401, 429, 500, 503, 504];
/** The errors of an operation on a table. */
export const ON_TABLES: readonly ErrorStatus[] = [...EVERYWHERE, 403, 404];
/** The errors of an operation on a table whose request has a body. */
export const WITH_BODY: readonly ErrorStatus[] = [...ON_TABLES, 408, 413, 415];

/**
 * How an operation is described to those who use it. OpenAPI, the tools of agents, `/llms.txt` and
 * the pages of the documentation are made from it.
 * @see S7, H21
 */
export interface Description {
  readonly tag: "Records" | "Catalogue" | "Webhooks";
  readonly summary: string;
  /** With code between backticks. */
  readonly description: string;
  /** The parameters of the request: headers, and the query string. */
  readonly parameters: readonly ParameterName[];
  /** The name of the body's schema; the document of a token prefixes it with the table's name. */
  readonly body?: "Query" | "Update" | "Batch" | "Create" | "Upsert" | "Delete" | "WebhookRequest";
  /** The status of success; 200 if left out. */
  readonly status?: 201;
  /** Another status of success, with the same body. */
  readonly otherStatus?: 200;
  /** The name of the response's schema. */
  readonly response: string;
  /** Makes the response's schema for the records of one table; left out: it is the same for all. */
  readonly responseOf?: (record: JsonSchema) => JsonSchema;
  /** Schemas that this operation adds to the document, by name. */
  readonly schemas?: Readonly<Record<string, JsonSchema>>;
  /** Other media types of a success, which `Accept` can request, with an example of each. */
  readonly otherForms?: Readonly<Record<string, string>>;
  /** Headers of a success, besides those of every response. */
  readonly headers?: readonly string[];
  readonly errors: readonly ErrorStatus[];
  /** The tables that it can be used on, where these are not all that the scopes allow. */
  readonly tables?: {
    readonly isPossible: (table: Table) => boolean;
    /** The parameter that names one of them. */
    readonly parameter:
      | "WritableTable"
      | "CreatableTable"
      | "MatchedTable"
      | "DeletableTable"
      | "TableWithFeed";
  };
  /** The first brevity of a document that describes it once for all tables; left out: none. */
  readonly sharedFrom?: "brief" | "terse";
  /** The tool of agents that stands for it; left out: there is none. */
  readonly tool?: ToolDefinition;
}
