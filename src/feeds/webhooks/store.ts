import { ApiError } from "../../basics/errors/api_error.ts";
import type { Database } from "../../database/postgres/database.ts";
import type { Fragment, Sql } from "../../database/postgres/driver.ts";
import { printArray } from "../../basics/text/array_text.ts";
import type { Access } from "../../access/tokens/token.ts";
import { mintSecret, mintWebhookId } from "./secret.ts";
import {
  MAX_WEBHOOKS_OF_TENANT,
  MAX_WEBHOOKS_OF_TOKEN,
  parseWebhook,
  printWebhook,
  type Webhook,
} from "./webhook.ts";

/** A webhook to be created. */
export interface WebhookDraft {
  readonly url: string;
  readonly tables: readonly string[];
  /** The position at which its deliveries begin in the feed of each table. */
  readonly positions: ReadonlyMap<string, string>;
  readonly schema: string;
}

/** A new webhook; the secret is shown once. */
export interface CreatedWebhook {
  readonly webhook: Webhook;
  readonly secret: string;
}

/**
 * Compiles the id of the first token in the chain of rotations of a token; `replaces` has no
 * branches.
 */
function firstToken(sql: Sql, { tokenId }: Access): Fragment {
  return sql`(with recursive "$chain" as (
      select o.id, o.replaces from rowgate.tokens o where o.id = ${tokenId}::text
      union all
      select o.id, o.replaces from rowgate.tokens o join "$chain" on o.id = "$chain".replaces
    ) select "$chain".id from "$chain" where "$chain".replaces is null)`;
}

/**
 * Creates a webhook that belongs to the token, and to those that will replace it.
 * @throws {ApiError} 409 the token or its tenant has too many already
 * @see WH1, WH6
 */
export async function insertWebhook(
  database: Database,
  access: Access,
  { url, tables, positions, schema }: WebhookDraft,
): Promise<CreatedWebhook> {
  const secret = mintSecret();
  const { tenant } = access;
  // Without the lock, two simultaneous requests would each not count the webhook of the other.
  const lock = (sql: Sql) =>
    sql`select pg_catalog.pg_advisory_xact_lock(pg_catalog.hashtextextended(
        pg_catalog.concat('rowgate webhooks of ', ${tenant}::text), 0))::text`;
  const insert = (sql: Sql) =>
    sql`with "$counted" as (
        select ${firstToken(sql, access)} as token_id,
          count(*) as of_tenant,
          count(*) filter (where o.token_id = ${firstToken(sql, access)}) as of_token
        from rowgate.webhooks o where o.tenant = ${tenant}::text
      ), w as (
        insert into rowgate.webhooks
          (id, token_id, tenant, schema_name, url, secret, tables, positions)
        select ${mintWebhookId("wh")}::text, "$counted".token_id, ${tenant}::text,
          ${schema}::text, ${url}::text, ${secret}::text, ${printArray(tables)}::text::text[],
          ${JSON.stringify(Object.fromEntries(positions))}::text::jsonb
        from "$counted"
        where "$counted".of_tenant < ${String(MAX_WEBHOOKS_OF_TENANT)}::text::int8
          and "$counted".of_token < ${String(MAX_WEBHOOKS_OF_TOKEN)}::text::int8
        returning *
      ) select ${printWebhook(sql)} as webhook from w`;
  const [row] = await database.transact<{ webhook: string }>([lock, insert], {
    rollback: false,
    tenant,
  });
  if (row !== undefined) return { webhook: parseWebhook(row.webhook), secret };
  throw new ApiError(
    409,
    `There are too many webhooks, expected at most ${MAX_WEBHOOKS_OF_TOKEN} for a token and ` +
      `${MAX_WEBHOOKS_OF_TENANT} of a tenant; delete one first`,
  );
}

/** Lists the webhooks of a token, oldest first; one of them, if an id is given. @see WH5 */
export async function selectWebhooks(
  database: Database,
  access: Access,
  { id }: { readonly id?: string } = {},
): Promise<readonly Webhook[]> {
  const rows = await database.run<{ webhook: string }>(
    (sql) =>
      sql`select ${printWebhook(sql)} as webhook from rowgate.webhooks w
        where w.tenant = ${access.tenant}::text and w.token_id = ${firstToken(sql, access)}
          and (${id ?? null}::text is null or w.id = ${id ?? null}::text)
        order by w.number`,
    { write: false, tenant: access.tenant },
  );
  return rows.map(({ webhook }) => parseWebhook(webhook));
}

/** Deletes a webhook of a token, and returns it; undefined if there is none. @see WH5 */
export async function deleteStoredWebhook(
  database: Database,
  access: Access,
  id: string,
): Promise<Webhook | undefined> {
  const [row] = await database.run<{ webhook: string }>(
    (sql) =>
      sql`with w as (
          delete from rowgate.webhooks o
          where o.id = ${id}::text and o.tenant = ${access.tenant}::text
            and o.token_id = ${firstToken(sql, access)}
          returning *
        ) select ${printWebhook(sql)} as webhook from w`,
    { write: true, tenant: access.tenant },
  );
  return row && parseWebhook(row.webhook);
}
