import { ApiError } from "../../src/basics/errors/api_error.ts";
import { planQuery } from "../../src/records/plan/query_plan.ts";
import { planUpdate } from "../../src/records/plan/update_plan.ts";
import { parseJson, parseJsonInSlices } from "../../src/basics/json/parse_json.ts";
import { parseQueryRequest } from "../../src/request/query_request.ts";
import { parseUpdateRequest } from "../../src/request/update_request.ts";
import { makeColumn, makeTable } from "./table.ts";
import type { WorstBody } from "./worst_bodies.ts";

const TABLE = makeTable([
  makeColumn("a", "int4"),
  makeColumn("n", "numeric"),
  makeColumn("j", "json", { type: "jsonb" }),
  makeColumn("l", "array", { elementKind: "text", baseType: "text[]", type: "text[]" }),
  makeColumn("t", "text"),
]);
const ACCESS = {
  tokenId: "t",
  name: null,
  tenant: "1",
  scopes: ["query", "update"] as const,
  tables: null,
  expiresAt: null,
};
const UTF_8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * Goes from bytes to the plan of a statement, as the operations do; otherwise gives the error.
 * `whole` keeps what no request can use.
 */
export async function serveWorstBody(
  { operation }: WorstBody,
  bytes: Uint8Array,
  { whole = false }: { readonly whole?: boolean } = {},
): Promise<"plan" | string> {
  try {
    const excess = operation === "query" ? "reject" : "drop";
    const text = UTF_8.decode(bytes);
    const document = whole ? parseJson(text) : await parseJsonInSlices(text, { excess });
    const { value, issues } = document;
    if (operation === "query") {
      const options = { table: TABLE, access: ACCESS, count: true, wideNumbersAsText: false };
      planQuery(parseQueryRequest(value, issues, { source: document }), options);
    } else {
      const options = { table: TABLE, access: ACCESS, maxAffected: undefined, rollback: false };
      const request = parseUpdateRequest(value, issues, document);
      planUpdate(request, options);
      // The operation waits for the database here.
      await new Promise((resolve) => setTimeout(resolve, 0));
      request.source.print(request.document.fields);
    }
    return "plan";
  } catch (error) {
    if (error instanceof ApiError && error.status === 400) return error.message;
    throw error;
  }
}
