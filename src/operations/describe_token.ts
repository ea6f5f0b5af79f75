import { describeAccess } from "../access/tokens/token.ts";
import { SCOPES } from "../access/scopes.ts";
import { EVERYWHERE } from "./description.ts";
import type { DescribedOperation } from "./operation.ts";
import { objectOf, TEXT, TRUE } from "./schemas/json_schema.ts";

const TOKEN = objectOf({
  id: {
    type: "string",
    description: "Identifies the token in logs and lists. It is not the token itself.",
  },
  name: { type: ["string", "null"] },
  tenant: TEXT,
  scopes: { type: "array", items: { enum: SCOPES } },
  tables: { type: ["array", "null"], items: TEXT, description: "Null: all tables." },
  expires_at: { type: ["string", "null"], format: "date-time" },
});

/**
 * The token itself: tenant, scopes, tables and expiry.
 * @see docs/specification/tokens.md
 */
export const describeToken: DescribedOperation = {
  name: "describe_token",
  method: "GET",
  path: "/integration/token",
  tag: "Catalogue",
  summary: "Get Token",
  description: "Describes the token and what it allows.",
  parameters: [],
  response: "Token",
  schemas: { Token: objectOf({ success: TRUE, token: TOKEN }) },
  headers: ["ETag"],
  errors: EVERYWHERE,
  describe: ({ access }) => describeAccess(access),
};
