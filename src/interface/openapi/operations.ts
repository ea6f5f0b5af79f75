import type { JsonSchema } from "./json_schema.ts";

/** A status that an error is answered with. */
export type ErrorStatus =
  | 400
  | 401
  | 403
  | 404
  | 408
  | 409
  | 413
  | 415
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
    | "getTables"
    | "getFields"
    | "getToken";
  readonly method: "get" | "post" | "patch";
  /** `{table}` stands for a table's name. */
  readonly path: string;
  readonly tag: "Records" | "Catalogue";
  readonly summary: string;
  readonly description: string;
  /** Name of the body's schema; with the table's name before it in a tenant's own document. */
  readonly body?: "Query" | "Update";
  /** Name of the answer's schema. */
  readonly answer: string;
  readonly preferences: readonly JsonSchema[];
  readonly errors: readonly ErrorStatus[];
}

const EVERYWHERE: readonly ErrorStatus[] = [401, 429, 500, 503, 504];
const ON_TABLES: readonly ErrorStatus[] = [400, ...EVERYWHERE, 403, 404];
const WITH_BODY: readonly ErrorStatus[] = [...ON_TABLES, 408, 413, 415];

const UPDATE_PREFERENCES = {
  name: "Prefer",
  in: "header",
  description: "`max-affected=N` refuses with 409, and writes nothing, when more rows match. " +
    "`tx=rollback` does everything, triggers and constraints included, but keep it. " +
    "`handling=strict` refuses unknown preferences. What was honoured stands in `Preference-Applied`.",
  schema: { type: "string" },
  example: "tx=rollback, max-affected=10",
};

/** Every operation that needs a token, in the order of the specification. @see S7 */
export const OPERATIONS: readonly DescribedOperation[] = [
  {
    id: "queryRecords",
    method: "post",
    path: "/integration/tables/{table}/query",
    tag: "Records",
    summary: "Query Records",
    description:
      "Reads one page of rows, and how many match in all. Nothing is written. Rows whose " +
      "column is NULL match neither `neq`, `not_in` nor `not_like`; ask for them with `is_null`.",
    body: "Query",
    answer: "Page",
    preferences: [{
      name: "Prefer",
      in: "header",
      description: "`count=none` leaves `total` null, for pollers that don't need it.",
      schema: { type: "string" },
      example: "count=none",
    }],
    errors: WITH_BODY,
  },
  {
    id: "updateSingleRecord",
    method: "patch",
    path: "/integration/tables/{table}/records/single",
    tag: "Records",
    summary: "Update Single Record",
    description: "Changes fields of exactly one row. 404 when none matches, 409 when several do; " +
      "then nothing is changed. `updated` is 0 when the row holds the values already.",
    body: "Update",
    answer: "UpdatedSingle",
    preferences: [UPDATE_PREFERENCES],
    errors: [...WITH_BODY, 409],
  },
  {
    id: "updateBulkRecords",
    method: "patch",
    path: "/integration/tables/{table}/records/bulk",
    tag: "Records",
    summary: "Update Bulk Records",
    description: "Changes fields of every row that matches; none is no error. Rows that hold the " +
      "values already are not written and not counted.",
    body: "Update",
    answer: "UpdatedBulk",
    preferences: [UPDATE_PREFERENCES],
    errors: [...WITH_BODY, 409],
  },
  {
    id: "getTables",
    method: "get",
    path: "/integration/tables",
    tag: "Catalogue",
    summary: "Get Tables",
    description: "Lists the tables that the token opens, by name.",
    answer: "Tables",
    preferences: [],
    errors: EVERYWHERE,
  },
  {
    id: "getFields",
    method: "get",
    path: "/integration/tables/{table}/fields",
    tag: "Catalogue",
    summary: "Get Fields",
    description: "Lists the columns of a table, in column order, with the operators that fit them.",
    answer: "Fields",
    preferences: [],
    errors: ON_TABLES,
  },
  {
    id: "getToken",
    method: "get",
    path: "/integration/token",
    tag: "Catalogue",
    summary: "Get Token",
    description: "Tells what the token is and allows.",
    answer: "Token",
    preferences: [],
    errors: EVERYWHERE,
  },
];
