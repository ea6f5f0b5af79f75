import type { DescribedOperation, ErrorStatus } from "./described_operation.ts";
import { WEBHOOK_OPERATIONS } from "./webhook_operations.ts";

const EVERYWHERE: readonly ErrorStatus[] = [400, 401, 429, 500, 503, 504];
const ON_TABLES: readonly ErrorStatus[] = [...EVERYWHERE, 403, 404];
const WITH_BODY: readonly ErrorStatus[] = [...ON_TABLES, 408, 413, 415];

const OF_UPDATES: Pick<DescribedOperation, "preferences" | "headers" | "errors"> = {
  preferences: ["UpdatePreferences", "IdempotencyKey"],
  headers: ["Idempotent-Replayed", "Rowgate-Position"],
  errors: [...WITH_BODY, 409, 422],
};

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
    preferences: ["QueryPreferences", "After", "Position"],
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
    preferences: ["Since", "Limit", "Wait", "Fields"],
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
