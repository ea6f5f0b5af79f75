import { describeWebhook } from "../feeds/webhooks/webhook.ts";
import type { DescribedOperation } from "./operation.ts";
import { requireWebhooks, WEBHOOK, WEBHOOK_ERRORS } from "./webhook_parts.ts";

/** Shows a webhook of the token, with the state of its deliveries. @see WH5, WH8 */
export const getWebhook: DescribedOperation = {
  name: "get_webhook",
  method: "GET",
  path: "/integration/webhooks/:id",
  ...WEBHOOK,
  summary: "Get Webhook",
  description: "Shows a webhook of the token, and how its deliveries go.",
  headers: ["ETag"],
  errors: WEBHOOK_ERRORS,
  response: "OneWebhook",
  admit: requireWebhooks,
  async manage(webhooks, { access, id }) {
    const webhook = await webhooks.find(access, id);
    return { json: JSON.stringify({ success: true, webhook: describeWebhook(webhook) }) };
  },
};
