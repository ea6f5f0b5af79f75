import type { DescribedOperation, ErrorStatus } from "./described_operation.ts";

const ERRORS: readonly ErrorStatus[] = [400, 401, 403, 404, 429, 500, 503, 504];
const COMMON = { tag: "Webhooks", preferences: [], scope: "webhooks" } as const;

/** The operations on webhooks. @see docs/specification/webhooks.md */
export const WEBHOOK_OPERATIONS: readonly DescribedOperation[] = [
  {
    ...COMMON,
    id: "createWebhook",
    method: "post",
    path: "/integration/webhooks",
    summary: "Create Webhook",
    description: "Has what changes in the tables from now on sent to an address, signed by " +
      "Standard Webhooks. Each message is `{type, timestamp, data: {table, changes, cursor}}`, its " +
      "changes as in List Changes. The secret is shown only in this response. 404 if the operator " +
      "of the service has not turned webhooks on.",
    body: "WebhookRequest",
    response: "CreatedWebhook",
    status: 201,
    errors: [...ERRORS, 408, 409, 413, 415],
  },
  {
    ...COMMON,
    id: "listWebhooks",
    method: "get",
    path: "/integration/webhooks",
    summary: "List Webhooks",
    description: "Lists the webhooks of the token, and of those that it replaces.",
    response: "Webhooks",
    errors: ERRORS,
  },
  {
    ...COMMON,
    id: "getWebhook",
    method: "get",
    path: "/integration/webhooks/{id}",
    summary: "Get Webhook",
    description: "Shows a webhook of the token, and how its deliveries go.",
    response: "OneWebhook",
    errors: ERRORS,
  },
  {
    ...COMMON,
    id: "deleteWebhook",
    method: "delete",
    path: "/integration/webhooks/{id}",
    summary: "Delete Webhook",
    description: "Deletes a webhook of the token, and gives it as it was.",
    response: "OneWebhook",
    errors: ERRORS,
  },
];
