/** Marks a statement without parameters, which can be run and printed. */
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

/** The primary key is the only index: it finds old records, gives the newest first, and grows at its end. */
const AUDIT_TABLE = statement`create table if not exists rowgate.audit (
  at timestamptz not null default clock_timestamp(),
  number int8 not null generated always as identity,
  request_id text not null,
  token_id text not null,
  tenant text not null,
  schema_name text not null,
  table_name text not null,
  operation text not null,
  filter_fields text[] not null,
  fields text[] not null,
  matched int8 not null,
  updated int8 not null,
  primary key (at, number)
)`;

/**
 * The statements that make each version from the one before. Each can be run again: the second of two
 * servers that hold the lock one after the other changes nothing.
 */
export const VERSIONS: readonly (readonly TemplateStringsArray[])[] = [
  [
    statement`create schema if not exists rowgate`,
    MIGRATIONS_TABLE,
    TOKENS_TABLE,
    statement`insert into rowgate.migrations (version) values (1) on conflict do nothing`,
  ],
  [
    AUDIT_TABLE,
    statement`insert into rowgate.migrations (version) values (2) on conflict do nothing`,
  ],
];

/** The statements that create the schema `rowgate`, in order, for a person to run. @see R34 */
export const SCHEMA_STATEMENTS: readonly string[] = VERSIONS.flat().map((text) => text[0]!);
