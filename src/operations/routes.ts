import { describeInterface, describeInterfaceForAll } from "./describe_interface.ts";
import { describeToken } from "./describe_token.ts";
import type { Answer, Call } from "./call.ts";
import { listFields } from "./list_fields.ts";
import { listTables } from "./list_tables.ts";
import { queryRecords } from "./query_records.ts";
import { updateBulk } from "./update_bulk.ts";
import { updateSingle } from "./update_single.ts";

/** One operation of the service: where it is, and what answers it. */
export interface Route {
  readonly method: "GET" | "POST" | "PATCH";
  readonly path: string;
  readonly operation: string;
  /** Which preferences it knows. */
  readonly prefers: "query" | "update" | "other";
  readonly answer: (call: Call) => Answer | Promise<Answer>;
  /** What is answered to a request without a token; undefined: 401. */
  readonly answerAll?: () => Answer;
}

/** Every operation that takes a token. @see S7 */
export const ROUTES: readonly Route[] = [
  {
    method: "POST",
    path: "/integration/tables/:table/query",
    operation: "query_records",
    prefers: "query",
    answer: queryRecords,
  },
  {
    method: "PATCH",
    path: "/integration/tables/:table/records/single",
    operation: "update_single",
    prefers: "update",
    answer: updateSingle,
  },
  {
    method: "PATCH",
    path: "/integration/tables/:table/records/bulk",
    operation: "update_bulk",
    prefers: "update",
    answer: updateBulk,
  },
  {
    method: "GET",
    path: "/integration/tables",
    operation: "list_tables",
    prefers: "other",
    answer: listTables,
  },
  {
    method: "GET",
    path: "/integration/tables/:table/fields",
    operation: "list_fields",
    prefers: "other",
    answer: listFields,
  },
  {
    method: "GET",
    path: "/integration/token",
    operation: "describe_token",
    prefers: "other",
    answer: describeToken,
  },
  {
    method: "GET",
    path: "/openapi.json",
    operation: "describe_interface",
    prefers: "other",
    answer: describeInterface,
    answerAll: describeInterfaceForAll,
  },
];
