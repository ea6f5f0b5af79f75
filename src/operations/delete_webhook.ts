import { describeWebhook } from "../feeds/webhooks/webhook.ts";
import type { DescribedOperation } from "./operation.ts";
import { requireWebhooks, WEBHOOK, WEBHOOK_ERRORS } from "./webhook_parts.ts";

/** Deletes a webhook of the token. @see WH5 */
export const deleteWebhook: DescribedOperation = {
  name: "delete_webhook",
  method: "DELETE",
  path: "/integration/webhooks/:id",
  ...WEBHOOK,
  summary: "Delete Webhook",
  description: "Deletes a webhook of the token, and returns it as it was.",
  headers: ["ETag"],
  errors: WEBHOOK_ERRORS,
  response: "OneWebhook",
  admit: requireWebhooks,
  async manage(webhooks, { access, id, refuseBody }) {
    refuseBody();
    const webhook = await webhooks.delete(access, id);
    return { json: JSON.stringify({ success: true, webhook: describeWebhook(webhook) }) };
  },
};
