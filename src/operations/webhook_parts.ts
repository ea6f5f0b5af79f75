import { ApiError } from "../basics/errors/api_error.ts";
import { quote } from "../basics/errors/issue.ts";
import type { Webhooks } from "../feeds/webhooks/webhooks.ts";
import type { Description, ErrorStatus } from "./description.ts";
import type { AdmitContext } from "./operation.ts";

/** What the descriptions of the operations on webhooks have in common. */
export const WEBHOOK = {
  scope: "webhooks",
  tag: "Webhooks",
  parameters: [],
} as const satisfies Partial<Description> & { readonly scope: string };

/** The errors of an operation on webhooks. */
export const WEBHOOK_ERRORS: readonly ErrorStatus[] = [400, 401, 403, 404, 429, 500, 503, 504];

/**
 * Returns the webhooks of the service. Throws if they are off, or the token lacks a scope that they
 * need.
 * @see WH1, WH3
 */
export function requireWebhooks({ webhooks, access }: AdmitContext): Webhooks {
  if (webhooks === undefined) {
    throw new ApiError(404, "Webhooks are off, the operator of the service can turn them on");
  }
  for (const scope of ["webhooks", "query"] as const) {
    if (access.scopes.includes(scope)) continue;
    throw new ApiError(403, `The token does not grant the operation ${quote(scope)}`);
  }
  return webhooks;
}
