import { describeWebhook } from "../feeds/webhooks/webhook.ts";
import type { DescribedOperation } from "./operation.ts";
import { requireWebhooks, WEBHOOK, WEBHOOK_ERRORS } from "./webhook_parts.ts";

/** Lists the webhooks of the token. @see WH5 */
export const listWebhooks: DescribedOperation = {
  name: "list_webhooks",
  method: "GET",
  path: "/integration/webhooks",
  ...WEBHOOK,
  summary: "List Webhooks",
  description: "Lists the webhooks of the token, and of those that it replaces.",
  headers: ["ETag"],
  errors: WEBHOOK_ERRORS,
  response: "Webhooks",
  admit: requireWebhooks,
  async manage(webhooks, { access }) {
    const found = await webhooks.list(access);
    return { json: JSON.stringify({ success: true, webhooks: found.map(describeWebhook) }) };
  },
};
