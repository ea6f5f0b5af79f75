import { MAX_WEBHOOK_TABLES } from "../../request/webhook_request.ts";
import { type JsonSchema, objectOf, refer } from "./json_schema.ts";

const TEXT = { type: "string" };
const TIME = { type: ["string", "null"], format: "date-time" };
const COUNT = { type: "integer", minimum: 0 };

const WEBHOOK: Readonly<Record<string, JsonSchema>> = {
  id: { type: "string", description: "Identifies the webhook: `wh_…`." },
  url: TEXT,
  tables: { type: "array", items: TEXT },
  state: { enum: ["enabled", "disabled"] },
  reason: { type: ["string", "null"], description: "Why it is disabled." },
  created_at: { type: "string", format: "date-time" },
  disabled_at: TIME,
  delivered: { ...COUNT, description: "Messages that were acknowledged." },
  delivered_at: TIME,
  failed_attempts: { ...COUNT, description: "Failed attempts of the message under way." },
  last_attempt_at: TIME,
  last_error: { type: ["string", "null"], description: "Why the last attempt failed." },
  next_attempt_at: { ...TIME, description: "When a message that failed is sent again." },
};

/** Describes the bodies of the operations on webhooks, by name. @see WH4, WH8 */
export function describeWebhookBodies(): Readonly<Record<string, JsonSchema>> {
  return {
    WebhookRequest: objectOf({
      url: {
        type: "string",
        format: "uri",
        description: "`https://` and a host that the operator of the service allows.",
      },
      tables: {
        type: "array",
        items: refer("Name"),
        minItems: 1,
        maxItems: MAX_WEBHOOK_TABLES,
        uniqueItems: true,
        description: "Tables with a changes feed.",
      },
    }),
    Webhook: objectOf(WEBHOOK),
    CreatedWebhook: objectOf({
      success: { const: true },
      webhook: objectOf({
        ...WEBHOOK,
        secret: {
          type: "string",
          description: "Verifies the signatures, by Standard Webhooks. It is shown only this once.",
        },
      }),
    }),
    OneWebhook: objectOf({ success: { const: true }, webhook: refer("Webhook") }),
    Webhooks: objectOf({
      success: { const: true },
      webhooks: { type: "array", items: refer("Webhook") },
    }),
  };
}
