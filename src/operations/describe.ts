import { describeFields, describeTables } from "../interface/describe_tables.ts";
import { printOpenApi, printPublicOpenApi } from "../interface/print_openapi.ts";
import { describeAccess } from "../tokens/token.ts";
import type { Operation } from "./operation.ts";

/**
 * Get Tables: the tables that the token may use.
 * @see docs/specification/tables-and-fields.md
 */
export const listTables: Operation = {
  name: "list_tables",
  method: "GET",
  path: "/integration/tables",
  describe: ({ catalogue, access }) => describeTables(catalogue, access),
  cacheable: true,
};

/**
 * Get Fields: the columns of a table, and what each takes.
 * @see docs/specification/tables-and-fields.md
 */
export const listFields: Operation = {
  name: "list_fields",
  method: "GET",
  path: "/integration/tables/:table/fields",
  describeTable: describeFields,
  cacheable: true,
};

/**
 * The token itself: tenant, scopes, tables and expiry.
 * @see docs/specification/tokens.md
 */
export const describeToken: Operation = {
  name: "describe_token",
  method: "GET",
  path: "/integration/token",
  describe: ({ access }) => describeAccess(access),
};

/**
 * The OpenAPI document: the generic one without a token, with one that of its tables.
 * @see docs/specification/service.md
 */
export const describeInterface: Operation = {
  name: "describe_interface",
  method: "GET",
  path: "/openapi.json",
  describe: ({ catalogue, access }) => printOpenApi(catalogue, access),
  describePublicly: printPublicOpenApi,
  cacheable: true,
};
