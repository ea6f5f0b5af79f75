import { ApiError } from "../errors/api_error.ts";
import { quote } from "../errors/issue.ts";
import { parseJson } from "../json/parse_json.ts";
import { parseWebhookRequest } from "../request/webhook_request.ts";
import { describeWebhook } from "../webhooks/webhook.ts";
import type { Webhooks } from "../webhooks/webhooks.ts";
import type { AdmitContext, Operation } from "./operation.ts";

/**
 * Creates a webhook, and shows its secret this once.
 * @see docs/specification/webhooks.md
 */
export const createWebhook: Operation = {
  name: "create_webhook",
  method: "POST",
  path: "/integration/webhooks",
  admit: requireWebhooks,
  async manage(webhooks, context) {
    const json = parseJson(await context.readBody());
    const request = parseWebhookRequest(json.value, json.issues);
    const { webhook, secret } = await webhooks.create(
      context.access,
      request,
      await context.catalogue(),
    );
    const { id, url, tables, ...rest } = describeWebhook(webhook);
    const shown = { id, url, tables, secret, ...rest };
    return { status: 201, json: JSON.stringify({ success: true, webhook: shown }) };
  },
};

/** Lists the webhooks of the token. @see WH5 */
export const listWebhooks: Operation = {
  name: "list_webhooks",
  method: "GET",
  path: "/integration/webhooks",
  admit: requireWebhooks,
  async manage(webhooks, { access }) {
    const found = await webhooks.list(access);
    return { json: JSON.stringify({ success: true, webhooks: found.map(describeWebhook) }) };
  },
};

/** Shows a webhook of the token, with the state of its deliveries. @see WH5, WH8 */
export const describeOneWebhook: Operation = {
  name: "get_webhook",
  method: "GET",
  path: "/integration/webhooks/:id",
  admit: requireWebhooks,
  async manage(webhooks, { access, id }) {
    const webhook = await webhooks.find(access, id);
    return { json: JSON.stringify({ success: true, webhook: describeWebhook(webhook) }) };
  },
};

/** Deletes a webhook of the token. @see WH5 */
export const deleteWebhook: Operation = {
  name: "delete_webhook",
  method: "DELETE",
  path: "/integration/webhooks/:id",
  admit: requireWebhooks,
  async manage(webhooks, { access, id, refuseBody }) {
    refuseBody();
    const webhook = await webhooks.delete(access, id);
    return { json: JSON.stringify({ success: true, webhook: describeWebhook(webhook) }) };
  },
};

/**
 * Returns the webhooks of the service. Throws if they are off, or the token lacks a scope that they
 * need.
 * @see WH1, WH3
 */
function requireWebhooks({ webhooks, access }: AdmitContext): Webhooks {
  if (webhooks === undefined) {
    throw new ApiError(404, "Webhooks are off, the operator of the service can turn them on");
  }
  for (const scope of ["webhooks", "query"] as const) {
    if (access.scopes.includes(scope)) continue;
    throw new ApiError(403, `The token does not grant the operation ${quote(scope)}`);
  }
  return webhooks;
}
