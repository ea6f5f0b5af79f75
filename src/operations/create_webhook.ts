import { parseJson } from "../basics/json/parse_json.ts";
import { parseWebhookRequest } from "../request/webhook_request.ts";
import { describeWebhook } from "../feeds/webhooks/webhook.ts";
import type { DescribedOperation } from "./operation.ts";
import { describeWebhookBodies } from "./schemas/webhook_schemas.ts";
import { requireWebhooks, WEBHOOK, WEBHOOK_ERRORS } from "./webhook_parts.ts";

/**
 * Creates a webhook, and shows its secret this once.
 * @see docs/specification/webhooks.md
 */
export const createWebhook: DescribedOperation = {
  name: "create_webhook",
  method: "POST",
  path: "/integration/webhooks",
  ...WEBHOOK,
  summary: "Create Webhook",
  description: "Has what changes in the tables from now on sent to an address, signed by " +
    "Standard Webhooks. Each message is `{type, timestamp, data: {table, changes, cursor}}`, its " +
    "changes as in List Changes. The secret is shown only in this response. 404 if the operator " +
    "of the service has not turned webhooks on.",
  body: "WebhookRequest",
  status: 201,
  schemas: describeWebhookBodies(),
  errors: [...WEBHOOK_ERRORS, 408, 409, 413, 415],
  response: "CreatedWebhook",
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
