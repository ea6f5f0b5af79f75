import type { Database } from "../postgres/database.ts";

/** The state of the schema `rowgate`, and what the role may do in it. */
export interface FoundSchema {
  /** Number of the `VERSIONS` that were applied. */
  readonly version: number;
  /** The role may look up tokens. */
  readonly readsTokens: boolean;
  /** The role may read the secrets that seal cursors. */
  readonly readsSecrets: boolean;
  /** The role may read the log of the changes feeds. */
  readonly readsChanges: boolean;
  /** The role may add audit records. */
  readonly writesAudit: boolean;
  /** The role may delete old audit records. */
  readonly prunesAudit: boolean;
  /** The role has all rights that webhooks need. */
  readonly keepsWebhooks: boolean;
  /** The role may store answers under an `Idempotency-Key`. */
  readonly keepsAnswers: boolean;
}

/** Reads Postgres's catalogue, so that the role needs no rights in the schema. */
export async function findSchema(database: Database): Promise<FoundSchema> {
  const [found] = await database.run<Record<keyof FoundSchema, string>>(
    (sql) =>
      sql`with "$t" as materialized (
          select c.oid, c.relname::text as name,
            pg_catalog.has_schema_privilege(n.oid, 'USAGE') as usable
          from pg_catalog.pg_namespace n
          join pg_catalog.pg_class c on c.relnamespace = n.oid
            and c.relname in ('tokens', 'audit', 'secrets', 'changes', 'webhooks',
              'idempotency_keys', 'rates')
          where n.nspname = 'rowgate'
        )
        select (case when not exists (select from "$t" where name = 'tokens') then 0
            when exists (select from pg_catalog.pg_proc p
              join pg_catalog.pg_namespace n on n.oid = p.pronamespace
              where n.nspname = 'rowgate' and p.proname = 'changes_shape'
                and pg_catalog.strpos(p.prosrc, 'image_columns') > 0)
              then case when exists (select from "$t"
                join pg_catalog.pg_constraint k on k.conrelid = "$t".oid
                where "$t".name = 'tokens' and k.conname = 'tokens_scopes_check'
                  and pg_catalog.strpos(pg_catalog.pg_get_constraintdef(k.oid), 'create') > 0)
                then 11 else 10 end
            when exists (select from pg_catalog.pg_proc p
              join pg_catalog.pg_namespace n on n.oid = p.pronamespace
              where n.nspname = 'rowgate' and p.proname = 'changes_shape'
                and pg_catalog.strpos(p.prosrc, '_moved') > 0) then 9
            when exists (select from pg_catalog.pg_proc p
              join pg_catalog.pg_namespace n on n.oid = p.pronamespace
              where n.nspname = 'rowgate' and p.proname = 'changes_flush') then 8
            when exists (select from "$t" where name = 'rates') then 7
            when exists (select from "$t" where name = 'idempotency_keys') then 6
            when exists (select from "$t" where name = 'webhooks') then 5
            when exists (select from "$t" where name = 'changes') then 4
            when exists (select from "$t" where name = 'secrets') then 3
            when exists (select from "$t" where name = 'audit') then 2 else 1 end)::text as "version",
          exists (select from "$t" where name = 'tokens' and usable
            and pg_catalog.has_table_privilege(oid, 'SELECT'))::text as "readsTokens",
          exists (select from "$t" where name = 'secrets' and usable
            and pg_catalog.has_table_privilege(oid, 'SELECT'))::text as "readsSecrets",
          exists (select from "$t" where name = 'changes' and usable
            and pg_catalog.has_table_privilege(oid, 'SELECT'))::text as "readsChanges",
          exists (select from "$t" where name = 'audit' and usable
            and pg_catalog.has_table_privilege(oid, 'INSERT'))::text as "writesAudit",
          exists (select from "$t" where name = 'audit' and usable
            and pg_catalog.has_table_privilege(oid, 'SELECT')
            and pg_catalog.has_table_privilege(oid, 'DELETE'))::text as "prunesAudit",
          exists (select from "$t" where name = 'webhooks' and usable
            and pg_catalog.has_table_privilege(oid, 'SELECT')
            and pg_catalog.has_table_privilege(oid, 'INSERT')
            and pg_catalog.has_table_privilege(oid, 'UPDATE')
            and pg_catalog.has_table_privilege(oid, 'DELETE'))::text as "keepsWebhooks",
          exists (select from "$t" where name = 'idempotency_keys' and usable
            and pg_catalog.has_table_privilege(oid, 'SELECT')
            and pg_catalog.has_table_privilege(oid, 'INSERT')
            and pg_catalog.has_table_privilege(oid, 'DELETE'))::text as "keepsAnswers"`,
    { write: false },
  );
  return {
    version: Number(found?.version ?? 0),
    readsTokens: found?.readsTokens === "true",
    readsSecrets: found?.readsSecrets === "true",
    readsChanges: found?.readsChanges === "true",
    writesAudit: found?.writesAudit === "true",
    prunesAudit: found?.prunesAudit === "true",
    keepsWebhooks: found?.keepsWebhooks === "true",
    keepsAnswers: found?.keepsAnswers === "true",
  };
}
