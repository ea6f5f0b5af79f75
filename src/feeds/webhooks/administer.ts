import type { Database } from "../../database/postgres/database.ts";
import { parseWebhook, printWebhook, type Webhook } from "./webhook.ts";

/** Lists all webhooks, or those of a tenant, oldest first: for the operator. @see WH17 */
export async function listAllWebhooks(
  database: Database,
  { tenant, id }: { readonly tenant?: string | undefined; readonly id?: string | undefined } = {},
): Promise<readonly Webhook[]> {
  const rows = await database.run<{ webhook: string }>(
    (sql) =>
      sql`select ${printWebhook(sql)} as webhook from rowgate.webhooks w
        where (${tenant ?? null}::text is null or w.tenant = ${tenant ?? null}::text)
          and (${id ?? null}::text is null or w.id = ${id ?? null}::text)
        order by w.number`,
    { write: false },
  );
  return rows.map(({ webhook }) => parseWebhook(webhook));
}

/** Deletes a webhook; undefined if no webhook has that id. @see WH17 */
export async function removeWebhook(database: Database, id: string): Promise<Webhook | undefined> {
  const [row] = await database.run<{ webhook: string }>(
    (sql) =>
      sql`with w as (delete from rowgate.webhooks where id = ${id}::text returning *)
        select ${printWebhook(sql)} as webhook from w`,
    { write: true },
  );
  return row && parseWebhook(row.webhook);
}

/**
 * Enables a webhook: its deliveries resume at once where they stopped. Undefined if no webhook has
 * that id.
 * @see WH17
 */
export async function enableWebhook(database: Database, id: string): Promise<Webhook | undefined> {
  const [row] = await database.run<{ webhook: string }>(
    (sql) =>
      sql`with w as (
          update rowgate.webhooks set state = 'enabled', reason = null, disabled_at = null,
            failed_attempts = 0, due_at = pg_catalog.clock_timestamp()
          where id = ${id}::text returning *
        ) select ${printWebhook(sql)} as webhook from w`,
    { write: true },
  );
  return row && parseWebhook(row.webhook);
}

/**
 * Disables a webhook, with a reason that its client sees. The pending message is dropped; its changes
 * are read again after the webhook is enabled. Undefined if no webhook has that id.
 * @see WH16, WH17
 */
export async function disableWebhook(
  database: Database,
  { id, reason }: { readonly id: string; readonly reason: string },
): Promise<Webhook | undefined> {
  const [row] = await database.run<{ webhook: string }>(
    (sql) =>
      sql`with w as (
          update rowgate.webhooks o set state = 'disabled', reason = ${reason}::text,
            disabled_at = pg_catalog.clock_timestamp(), lease = null,
            message_id = null, message_table = null, message_cursor = null, message = null
          where o.id = ${id}::text returning *
        ) select ${printWebhook(sql)} as webhook from w`,
    { write: true },
  );
  return row && parseWebhook(row.webhook);
}

/**
 * Sets the position from which a webhook delivers the changes of a table. The pending message is
 * dropped, because its acknowledgement would move the position again. Undefined if no webhook has
 * that id and table.
 * @see WH18
 */
export async function replayWebhook(
  database: Database,
  { id, table, position }: {
    readonly id: string;
    readonly table: string;
    readonly position: string;
  },
): Promise<Webhook | undefined> {
  const [row] = await database.run<{ webhook: string }>(
    (sql) =>
      sql`with w as (
          update rowgate.webhooks o
          set positions = o.positions ||
              pg_catalog.jsonb_build_object(${table}::text, ${position}::text),
            failed_attempts = 0, due_at = pg_catalog.clock_timestamp(),
            lease = null,
            message_id = null, message_table = null, message_cursor = null, message = null
          where o.id = ${id}::text and ${table}::text = any(o.tables) returning *
        ) select ${printWebhook(sql)} as webhook from w`,
    { write: true },
  );
  return row && parseWebhook(row.webhook);
}
