import type { Sql } from "postgres";
import type { Compile, Database } from "../database/database.ts";
import type { Failure } from "../database/failure.ts";
import { ApiError } from "../errors.ts";

/** What became of the schema: as it must be, made so now, or not ours to change. */
export type SchemaState = "current" | "migrated" | "not permitted";

/** Makes a statement without parameters that can be run and printed. */
function statement(text: TemplateStringsArray): TemplateStringsArray {
  return text;
}

const MIGRATIONS_TABLE = statement`create table if not exists rowgate.migrations (
  version int4 primary key,
  made_at timestamptz not null default now()
)`;

const TOKENS_TABLE = statement`create table if not exists rowgate.tokens (
  id text primary key,
  number int8 not null unique generated always as identity,
  digest bytea not null unique,
  tenant text not null check (tenant <> ''),
  name text,
  scopes text[] not null check (scopes <@ array['query', 'update']),
  tables text[],
  created_at timestamptz not null default now(),
  expires_at timestamptz,
  revoked_at timestamptz,
  replaces text unique references rowgate.tokens (id)
)`;

/** Each can be run again: who comes second past the lock changes nothing. */
const MIGRATION_STATEMENTS: readonly TemplateStringsArray[] = [
  statement`create schema if not exists rowgate`,
  MIGRATIONS_TABLE,
  TOKENS_TABLE,
  statement`insert into rowgate.migrations (version) values (1) on conflict do nothing`,
];

/** Its number is "rowgate" in ASCII. */
const LOCK = statement`select pg_advisory_xact_lock(32210705971246181)::text`;

/** The statements that make the schema `rowgate`, to be run by hand, in order. @see DECISIONS 9 */
export const SCHEMA_STATEMENTS: readonly string[] = MIGRATION_STATEMENTS.map((text) => text[0]!);

/**
 * Makes the schema `rowgate` what this version needs, under an advisory lock, in one transaction.
 * Where it is so already nothing is tried, so a role that may only read the tokens can serve.
 * @throws {ApiError} 503 and others as the database rejects; "not permitted" is no error
 * @see DECISIONS 9
 */
export async function migrateSchema(database: Database): Promise<SchemaState> {
  if (await isCurrent(database)) return "current";
  try {
    await database.transact([LOCK, ...MIGRATION_STATEMENTS].map(compile), { rollback: false });
    return "migrated";
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if ((error.cause as Failure | undefined)?.kind !== "permission") throw error;
    return "not permitted";
  }
}

/** Asks Postgres's own catalogue, which every role may read, so that nothing can fail. */
async function isCurrent(database: Database): Promise<boolean> {
  const [found] = await database.run<{ current: string }>(
    (sql) =>
      sql`select coalesce(bool_and(
          pg_catalog.has_schema_privilege(n.oid, 'USAGE')
          and pg_catalog.has_table_privilege(c.oid, 'SELECT')), false)::text as current
        from pg_catalog.pg_namespace n
        join pg_catalog.pg_class c on c.relnamespace = n.oid and c.relname = 'tokens'
        where n.nspname = 'rowgate'`,
    { write: false },
  );
  return found?.current === "true";
}

function compile(text: TemplateStringsArray): Compile {
  return (sql: Sql) => sql(text);
}
