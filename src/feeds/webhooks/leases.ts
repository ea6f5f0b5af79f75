import * as v from "valibot";
import type { Database } from "../../database/postgres/database.ts";
import type { Access } from "../../access/tokens/token.ts";
import { accessOf, hasEnded, parseRecord, printRecord } from "../../access/tokens/token_record.ts";

/**
 * How long a webhook belongs to the instance that claimed it, after the last statement about it. It
 * must be longer than an attempt. After a crash, a webhook waits for this long.
 */
const LEASE_SECONDS = 45;

/**
 * A pending message. It is stored until it is acknowledged, so that a repeat is identical.
 * @see WH13
 */
export interface Message {
  readonly id: string;
  readonly table: string;
  /** The position in the feed after this message. */
  readonly cursor: string;
  readonly body: string;
}

/** A webhook that only this instance delivers, until the lease ends. */
export interface LeasedWebhook {
  readonly id: string;
  /** Id of the lease. A statement with an expired lease changes nothing. */
  readonly lease: string;
  readonly tenant: string;
  readonly tokenId: string;
  readonly url: string;
  readonly secret: string;
  readonly tables: readonly string[];
  /** The position of the next message in the feed of each table. */
  readonly positions: ReadonlyMap<string, string>;
  readonly failedAttempts: number;
  readonly message: Message | undefined;
}

const leased = v.pipe(
  v.object({
    id: v.string(),
    lease: v.string(),
    tenant: v.string(),
    token_id: v.string(),
    url: v.string(),
    secret: v.string(),
    tables: v.array(v.string()),
    // Not `record`, which drops a table of the name "constructor".
    positions: v.pipe(
      v.unknown(),
      v.transform((positions) => new Map<string, string>(Object.entries(positions as object))),
    ),
    failed_attempts: v.number(),
    message_id: v.nullable(v.string()),
    message_table: v.nullable(v.string()),
    message_cursor: v.nullable(v.string()),
    message: v.nullable(v.string()),
  }),
  v.transform((row): LeasedWebhook => ({
    id: row.id,
    lease: row.lease,
    tenant: row.tenant,
    tokenId: row.token_id,
    url: row.url,
    secret: row.secret,
    tables: row.tables,
    positions: row.positions,
    failedAttempts: row.failed_attempts,
    message: row.message_id === null ? undefined : {
      id: row.message_id,
      table: row.message_table ?? "",
      cursor: row.message_cursor ?? "",
      body: row.message ?? "",
    },
  })),
);

/** Which webhooks are claimed. */
export interface ClaimOptions {
  readonly schema: string;
  readonly limit: number;
  /** Tenants that have their full share of the deliveries. */
  readonly busyTenants: readonly string[];
}

/**
 * Claims at most `limit` webhooks that are due and not leased, those due longest first. Instances
 * that claim at the same time get different ones.
 * @see WH19
 */
export async function claimWebhooks(
  database: Database,
  { schema, limit, busyTenants }: ClaimOptions,
): Promise<readonly LeasedWebhook[]> {
  const lease = crypto.randomUUID();
  const rows = await database.run<{ leased: string }>(
    (sql) =>
      sql`with "$due" as (
          select o.id from rowgate.webhooks o
          where o.state = 'enabled' and o.schema_name = ${schema}::text
            and o.due_at <= pg_catalog.clock_timestamp()
            and o.tenant not in (select pg_catalog.json_array_elements_text(
              ${JSON.stringify(busyTenants)}::text::json))
          order by o.due_at limit ${String(limit)}::text::int8
          for update skip locked
        ), w as (
          update rowgate.webhooks o set lease = ${lease}::text, woken = false, due_at =
            pg_catalog.clock_timestamp() + ${
        String(LEASE_SECONDS)
      }::text::float8 * interval '1 second'
          from "$due" where o.id = "$due".id returning o.*
        ) select pg_catalog.json_build_object(
            'id', w.id, 'lease', w.lease, 'tenant', w.tenant, 'token_id', w.token_id, 'url', w.url,
            'secret', w.secret, 'tables', pg_catalog.to_json(w.tables), 'positions', w.positions,
            'failed_attempts', w.failed_attempts, 'message_id', w.message_id,
            'message_table', w.message_table, 'message_cursor', w.message_cursor,
            'message', w.message)::text as leased
          from w order by w.due_at`,
    { write: true },
  );
  return rows.map((row) => v.parse(leased, JSON.parse(row.leased)));
}

/**
 * Returns the access of the newest valid token of a webhook: the one that created it, or one that has
 * replaced that. Undefined if none is valid.
 * @see WH7
 */
export async function findHolder(
  database: Database,
  { tokenId }: LeasedWebhook,
): Promise<Access | undefined> {
  const rows = await database.run<{ record: string }>(
    (sql) =>
      sql`with recursive "$chain" as (
          select o.id, 0 as step from rowgate.tokens o where o.id = ${tokenId}::text
          union all
          select o.id, "$chain".step + 1 from rowgate.tokens o
          join "$chain" on o.replaces = "$chain".id
        ) select ${printRecord(sql)} as record
          from "$chain" join rowgate.tokens t on t.id = "$chain".id order by "$chain".step desc`,
    { write: false },
  );
  const found = rows.map(({ record }) => parseRecord(record)).find((one) => !hasEnded(one));
  return found && accessOf(found);
}

/** Stores a new message before it is sent. @returns false if the lease has ended */
export async function keepMessage(
  database: Database,
  { id, lease, tenant }: LeasedWebhook,
  message: Message,
): Promise<boolean> {
  const rows = await database.run(
    (sql) =>
      sql`update rowgate.webhooks set message_id = ${message.id}::text,
          message_table = ${message.table}::text, message_cursor = ${message.cursor}::text,
          message = ${message.body}::text, due_at =
            pg_catalog.clock_timestamp() + ${
        String(LEASE_SECONDS)
      }::text::float8 * interval '1 second'
        where id = ${id}::text and lease = ${lease}::text returning 1`,
    { write: true, tenant },
  );
  return rows.length > 0;
}

/**
 * Records that the pending message was acknowledged: the next one begins after it. Extends the lease.
 * @returns false when the lease has ended
 */
export async function acknowledge(
  database: Database,
  { id, lease, tenant }: LeasedWebhook,
  message: Message,
): Promise<boolean> {
  const rows = await database.run(
    (sql) =>
      sql`update rowgate.webhooks o set
          positions = o.positions ||
            pg_catalog.jsonb_build_object(${message.table}::text, ${message.cursor}::text),
          message_id = null, message_table = null, message_cursor = null, message = null,
          failed_attempts = 0, last_error = null, last_attempt_at = pg_catalog.clock_timestamp(),
          delivered = o.delivered + 1, delivered_at = pg_catalog.clock_timestamp(),
          due_at =
            pg_catalog.clock_timestamp() + ${
        String(LEASE_SECONDS)
      }::text::float8 * interval '1 second'
        where o.id = ${id}::text and o.lease = ${lease}::text and o.message_id = ${message.id}::text
        returning 1`,
    { write: true, tenant },
  );
  return rows.length > 0;
}

/** Records a failed attempt and the time of the next one. Ends the lease. */
export async function postpone(
  database: Database,
  { id, lease, tenant }: LeasedWebhook,
  { error, attempts, seconds }: {
    readonly error: string;
    readonly attempts: number;
    readonly seconds: number;
  },
): Promise<void> {
  await database.run(
    (sql) =>
      sql`update rowgate.webhooks set failed_attempts = ${String(attempts)}::text::int4,
          last_error = ${error}::text, last_attempt_at = pg_catalog.clock_timestamp(),
          due_at = pg_catalog.clock_timestamp() +
            ${String(seconds)}::text::float8 * interval '1 second',
          lease = null
        where id = ${id}::text and lease = ${lease}::text`,
    { write: true, tenant },
  );
}

/**
 * Ends the lease of a webhook, which is due again after so many seconds, or at once if its tables
 * changed meanwhile.
 */
export async function release(
  database: Database,
  { id, lease, tenant }: LeasedWebhook,
  { seconds, positions = new Map() }: {
    readonly seconds: number;
    /** New positions in feeds that had nothing to send. */
    readonly positions?: ReadonlyMap<string, string>;
  },
): Promise<void> {
  await database.run(
    (sql) =>
      sql`update rowgate.webhooks o set lease = null, positions = o.positions ||
            ${JSON.stringify(Object.fromEntries(positions))}::text::jsonb,
          due_at = pg_catalog.clock_timestamp() + case when o.woken then 0
            else ${String(seconds)}::text::float8 end * interval '1 second'
        where id = ${id}::text and lease = ${lease}::text`,
    { write: true, tenant },
  );
}

/**
 * Disables a webhook that can no longer be delivered, and drops its pending message.
 * @returns false when the lease has ended
 */
export async function giveUp(
  database: Database,
  { id, lease, tenant }: LeasedWebhook,
  { reason, error, attempts }: {
    readonly reason: string;
    readonly error: string | null;
    readonly attempts: number;
  },
): Promise<boolean> {
  const rows = await database.run(
    (sql) =>
      sql`update rowgate.webhooks o set state = 'disabled', reason = ${reason}::text,
          disabled_at = pg_catalog.clock_timestamp(),
          failed_attempts = ${String(attempts)}::text::int4,
          last_error = coalesce(${error}::text, o.last_error),
          last_attempt_at = case when ${error}::text is null then o.last_attempt_at
            else pg_catalog.clock_timestamp() end,
          lease = null,
          message_id = null, message_table = null, message_cursor = null, message = null
        where o.id = ${id}::text and o.lease = ${lease}::text returning 1`,
    { write: true, tenant },
  );
  return rows.length > 0;
}
