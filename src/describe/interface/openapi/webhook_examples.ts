import type { Example } from "./examples.ts";

const URL_AND_TABLES = {
  "url": "https://hooks.zapier.com/hooks/catch/1/2/",
  "tables": ["orders"],
};
const ID = { "id": "wh_0aB3dE6gH9jK2mN5" };
const SECRET = { "secret": "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oDo7KLg8Ki9k0=" };
const STATE = {
  "state": "enabled",
  "reason": null,
  "created_at": "2026-05-01T12:00:00.000Z",
  "disabled_at": null,
  "delivered": 0,
  "delivered_at": null,
  "failed_attempts": 0,
  "last_attempt_at": null,
  "last_error": null,
  "next_attempt_at": null,
};
const WEBHOOK = { ...ID, ...URL_AND_TABLES, ...STATE };

/** The examples of webhooks, compared with what is recorded as {@link EXAMPLES} are. */
export const WEBHOOK_EXAMPLES: readonly Example[] = [
  {
    "operation": "createWebhook",
    "body": URL_AND_TABLES,
    "response": { "success": true, "webhook": { ...ID, ...URL_AND_TABLES, ...SECRET, ...STATE } },
  },
  { "operation": "listWebhooks", "response": { "success": true, "webhooks": [WEBHOOK] } },
  { "operation": "getWebhook", "response": { "success": true, "webhook": WEBHOOK } },
  { "operation": "deleteWebhook", "response": { "success": true, "webhook": WEBHOOK } },
];
