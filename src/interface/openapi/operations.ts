import {
  DEFAULT_CHANGES,
  MAX_CHANGES,
  MAX_PAGE_TOKEN_CHARACTERS,
  MAX_WAIT_SECONDS,
} from "../../errors/limits.ts";
import type { JsonSchema } from "./json_schema.ts";
import { WEBHOOK_OPERATIONS } from "./webhook_operations.ts";

/** A status of an error response. */
export type ErrorStatus =
  | 400
  | 401
  | 403
  | 404
  | 408
  | 409
  | 410
  | 413
  | 415
  | 422
  | 429
  | 500
  | 503
  | 504;

/** One operation as the document describes it. */
export interface DescribedOperation {
  readonly id:
    | "queryRecords"
    | "updateSingleRecord"
    | "updateBulkRecords"
    | "updateBatchOfRecords"
    | "listChanges"
    | "getTables"
    | "getFields"
    | "getToken"
    | "createWebhook"
    | "listWebhooks"
    | "getWebhook"
    | "deleteWebhook";
  readonly method: "get" | "post" | "patch" | "delete";
  /** `{table}` stands for a table's name, `{id}` for the id of a webhook. */
  readonly path: string;
  readonly tag: "Records" | "Catalogue" | "Webhooks";
  readonly summary: string;
  readonly description: string;
  /** The name of the body's schema; the document of a token prefixes it with the table's name. */
  readonly body?: "Query" | "Update" | "Batch" | "WebhookRequest";
  /** Left out: 200. */
  readonly status?: 201;
  /** Besides what its table needs: only a token with this scope has the operation. */
  readonly scope?: "webhooks";
  /** The name of the response's schema. */
  readonly response: string;
  /** The preferences, and the parameters of the query string. */
  readonly preferences: readonly JsonSchema[];
  /** Other media types of its 200, which `Accept` asks for, with an example of each. */
  readonly otherForms?: Readonly<Record<string, string>>;
  /** Headers of its 200 besides those of every response and Preference-Applied. */
  readonly headers?: readonly string[];
  readonly errors: readonly ErrorStatus[];
}

const EVERYWHERE: readonly ErrorStatus[] = [401, 429, 500, 503, 504];
const ON_TABLES: readonly ErrorStatus[] = [400, ...EVERYWHERE, 403, 404];
const WITH_BODY: readonly ErrorStatus[] = [...ON_TABLES, 408, 413, 415];

const UPDATE_PREFERENCES = {
  name: "Prefer",
  in: "header",
  description:
    "`max-affected=N`: 409 and no change if more than N rows match. `tx=rollback`: run " +
    "the update with its triggers and constraints, then roll it back. `handling=strict`: 400 for an " +
    "unknown preference. `Preference-Applied` names the preferences that were applied.",
  schema: { type: "string" },
  example: "tx=rollback, max-affected=10",
};

const IDEMPOTENCY_KEY = {
  name: "Idempotency-Key",
  in: "header",
  description:
    "A string in double quotes, of 1 to 255 characters, new for each update. The answer is " +
    "kept under it for a day, if it is 200, 404 or 409 with `matched`: when the same request is sent " +
    "again with the same key, the answer is the first one's, with `Idempotent-Replayed`, and nothing " +
    "is done again. 422 for another request with the key; 409 with `Retry-After` while the first " +
    "is running.",
  schema: { type: "string", minLength: 3 },
  example: '"8e03978e-40d5-43dd-bc93-6894a57f9324"',
};
const OF_UPDATES: Pick<DescribedOperation, "preferences" | "headers" | "errors"> = {
  preferences: [UPDATE_PREFERENCES, IDEMPOTENCY_KEY],
  headers: ["Idempotent-Replayed", "Rowgate-Position"],
  errors: [...WITH_BODY, 409, 422],
};

const QUERY_PARAMETERS: readonly JsonSchema[] = [
  {
    name: "Prefer",
    in: "header",
    description: "`count=none`: do not count the rows; `total` is null. `page-token`: the `Link` " +
      "header of the response leads to the next page, unless it was the last one; each page costs " +
      "the same, and a row that stays is given once. `handling=strict`: 400 for an unknown " +
      "preference. `Preference-Applied` names the preferences that were applied.",
    schema: { type: "string" },
    example: "page-token, count=none",
  },
  {
    name: "after",
    in: "query",
    description:
      "The page token of the `Link` header of the page before. The body must be the same " +
      "as there; only `select` and `per_page` may differ, and `page` is left out.",
    schema: { type: "string", maxLength: MAX_PAGE_TOKEN_CHARACTERS },
  },
  {
    name: "Rowgate-Position",
    in: "header",
    description: "This header of the response to an update, sent back: the query sees the update.",
    schema: { type: "string" },
  },
];

const CHANGES_PARAMETERS: readonly JsonSchema[] = [
  {
    name: "since",
    in: "query",
    description: "`start`: every row first. `now`: what changes from now on. Else a `cursor`.",
    schema: { type: "string", default: "start" },
  },
  {
    name: "limit",
    in: "query",
    description: "Changes in the answer at most.",
    schema: { type: "integer", minimum: 1, maximum: MAX_CHANGES, default: DEFAULT_CHANGES },
  },
  {
    name: "wait",
    in: "query",
    description: "Seconds to wait for a change, if there is none yet.",
    schema: { type: "integer", minimum: 0, maximum: MAX_WAIT_SECONDS, default: 0 },
  },
  {
    name: "fields",
    in: "query",
    description: "Columns of the records, separated by commas; all when left out.",
    schema: { type: "string" },
    example: "order_no,status",
  },
];

/** Every operation that needs a token, in the order of the specification. @see S7 */
export const DESCRIBED_OPERATIONS: readonly DescribedOperation[] = [
  {
    id: "queryRecords",
    method: "post",
    path: "/integration/tables/{table}/query",
    tag: "Records",
    summary: "Query Records",
    description:
      "Returns one page of the rows that match, and how many match in all. Rows whose column is " +
      "NULL match none of `neq`, `not_in` and `not_like`; `is_null` finds them. " +
      "With `Accept: application/x-ndjson` or `text/csv` it is an export: every row that matches, as a " +
      "stream of one moment, without `page` and `per_page`. A stream that ends well is whole; of more " +
      "exports than may run at once, one is 503 with `Retry-After`.",
    body: "Query",
    response: "Page",
    preferences: QUERY_PARAMETERS,
    headers: ["Link", "Rowgate-Order"],
    otherForms: {
      "application/x-ndjson": '{"id":1,"status":"open"}\n{"id":2,"status":"paid"}\n',
      "text/csv": "id,status\r\n1,open\r\n2,paid\r\n",
    },
    errors: [...WITH_BODY, 410],
  },
  {
    id: "updateSingleRecord",
    method: "patch",
    path: "/integration/tables/{table}/records/single",
    tag: "Records",
    summary: "Update Single Record",
    description: "Changes exactly one row. 404 if no row matches and 409 if several do; then " +
      "nothing is changed. `updated` is 0 if the row already has the values.",
    body: "Update",
    response: "UpdatedSingle",
    ...OF_UPDATES,
  },
  {
    id: "updateBulkRecords",
    method: "patch",
    path: "/integration/tables/{table}/records/bulk",
    tag: "Records",
    summary: "Update Bulk Records",
    description: "Changes every row that matches, which may be none. Rows that already have the " +
      "values are neither written nor counted.",
    body: "Update",
    response: "UpdatedBulk",
    ...OF_UPDATES,
  },
  {
    id: "updateBatchOfRecords",
    method: "patch",
    path: "/integration/tables/{table}/records/batch",
    tag: "Records",
    summary: "Update Batch of Records",
    description: "Runs up to 200 single updates in one transaction, in order, each seeing those " +
      "before it. The first that matches no row or several, or is refused, undoes all of them; the " +
      "message begins with its place, such as `updates[3]`.",
    body: "Batch",
    response: "UpdatedBatch",
    ...OF_UPDATES,
  },
  {
    id: "listChanges",
    method: "get",
    path: "/integration/tables/{table}/changes",
    tag: "Records",
    summary: "List Changes",
    description:
      "Returns what changed since a cursor, rows that were deleted as well; without one, " +
      "begins with every row. Apply the answers in order: when `more` is false, the copy is complete. " +
      "With `Accept: text/event-stream` the same comes as Server-Sent Events.",
    response: "Changes",
    preferences: CHANGES_PARAMETERS,
    errors: [...ON_TABLES, 410],
  },
  {
    id: "getTables",
    method: "get",
    path: "/integration/tables",
    tag: "Catalogue",
    summary: "Get Tables",
    description: "Lists the tables that the token gives access to, by name.",
    response: "Tables",
    preferences: [],
    errors: EVERYWHERE,
  },
  {
    id: "getFields",
    method: "get",
    path: "/integration/tables/{table}/fields",
    tag: "Catalogue",
    summary: "Get Fields",
    description:
      "Lists the columns of a table in column order, with the operators that each one allows.",
    response: "Fields",
    preferences: [],
    errors: ON_TABLES,
  },
  {
    id: "getToken",
    method: "get",
    path: "/integration/token",
    tag: "Catalogue",
    summary: "Get Token",
    description: "Describes the token and what it allows.",
    response: "Token",
    preferences: [],
    errors: EVERYWHERE,
  },
  ...WEBHOOK_OPERATIONS,
];
