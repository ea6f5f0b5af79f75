import * as v from "valibot";
import type { Fragment, Sql } from "../../database/postgres/driver.ts";

/** Webhooks that a token may have, together with those that it replaces. @see WH6 */
export const MAX_WEBHOOKS_OF_TOKEN = 20;
/** Webhooks that a tenant may have. @see WH6 */
export const MAX_WEBHOOKS_OF_TENANT = 100;

/** A webhook as clients and the operator see it: without its secret. */
export interface Webhook {
  readonly id: string;
  readonly tenant: string;
  /** The token that created it, or the first token in the chain of rotations that led to that one. */
  readonly tokenId: string;
  readonly url: string;
  readonly tables: readonly string[];
  readonly state: "enabled" | "disabled";
  /** Why it is disabled. */
  readonly reason: string | null;
  readonly createdAt: string;
  readonly disabledAt: string | null;
  /** Number of acknowledged messages. */
  readonly delivered: number;
  readonly deliveredAt: string | null;
  /** Failed attempts of the pending message. */
  readonly failedAttempts: number;
  readonly lastAttemptAt: string | null;
  /** Why the last attempt failed; null if it did not. */
  readonly lastError: string | null;
  /** When the pending message is sent again; null if it has not failed. */
  readonly nextAttemptAt: string | null;
}

const shape = v.pipe(
  v.object({
    id: v.string(),
    tenant: v.string(),
    token_id: v.string(),
    url: v.string(),
    tables: v.array(v.string()),
    state: v.picklist(["enabled", "disabled"]),
    reason: v.nullable(v.string()),
    created_at: v.string(),
    disabled_at: v.nullable(v.string()),
    delivered: v.number(),
    delivered_at: v.nullable(v.string()),
    failed_attempts: v.number(),
    last_attempt_at: v.nullable(v.string()),
    last_error: v.nullable(v.string()),
    next_attempt_at: v.nullable(v.string()),
  }),
  v.transform((row): Webhook => ({
    id: row.id,
    tenant: row.tenant,
    tokenId: row.token_id,
    url: row.url,
    tables: row.tables,
    state: row.state,
    reason: row.reason,
    createdAt: row.created_at,
    disabledAt: row.disabled_at,
    delivered: row.delivered,
    deliveredAt: row.delivered_at,
    failedAttempts: row.failed_attempts,
    lastAttemptAt: row.last_attempt_at,
    lastError: row.last_error,
    nextAttemptAt: row.next_attempt_at,
  })),
);

/** Parses what {@link printWebhook} printed. */
export function parseWebhook(text: string): Webhook {
  return v.parse(shape, JSON.parse(text));
}

/** Prints a row of `rowgate.webhooks`, named `w` in the statement, as JSON for {@link parseWebhook}. */
export function printWebhook(sql: Sql): Fragment {
  return sql`pg_catalog.json_build_object(
    'id', w.id, 'tenant', w.tenant, 'token_id', w.token_id, 'url', w.url,
    'tables', pg_catalog.to_json(w.tables), 'state', w.state, 'reason', w.reason,
    'created_at', pg_catalog.to_char(w.created_at at time zone 'UTC', ${form(sql)}),
    'disabled_at', pg_catalog.to_char(w.disabled_at at time zone 'UTC', ${form(sql)}),
    'delivered', w.delivered,
    'delivered_at', pg_catalog.to_char(w.delivered_at at time zone 'UTC', ${form(sql)}),
    'failed_attempts', w.failed_attempts,
    'last_attempt_at', pg_catalog.to_char(w.last_attempt_at at time zone 'UTC', ${form(sql)}),
    'last_error', w.last_error,
    'next_attempt_at', case when w.state = 'enabled' and w.failed_attempts > 0
      then pg_catalog.to_char(w.due_at at time zone 'UTC', ${form(sql)}) end)::text`;
}

function form(sql: Sql): Fragment {
  return sql`'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'`;
}

/**
 * Describes a webhook to its client: a {@link Webhook} without what the client knows already.
 * @see WH8
 */
export function describeWebhook(webhook: Webhook) {
  return {
    id: webhook.id,
    url: webhook.url,
    tables: webhook.tables,
    state: webhook.state,
    reason: webhook.reason,
    created_at: webhook.createdAt,
    disabled_at: webhook.disabledAt,
    delivered: webhook.delivered,
    delivered_at: webhook.deliveredAt,
    failed_attempts: webhook.failedAttempts,
    last_attempt_at: webhook.lastAttemptAt,
    last_error: webhook.lastError,
    next_attempt_at: webhook.nextAttemptAt,
  };
}
