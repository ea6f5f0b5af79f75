import { SCOPES } from "../../access/scopes.ts";
import {
  CHANGES_FUNCTIONS_VERSION,
  CHANGES_VERSION,
  IMAGES_VERSION,
  MOVED_VERSION,
} from "./changes_statements.ts";
import { IDEMPOTENCY_VERSION } from "./idempotency_statements.ts";
import { RATES_VERSION } from "./rates_statements.ts";
import {
  grantToServingRoles,
  noteVersion,
  OWN_PATH,
  type Statement,
  statement,
} from "./statement.ts";
import { WEBHOOKS_VERSION } from "./webhooks_statements.ts";

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

/**
 * The primary key is the only index. It finds old records, returns the newest first, and grows at its
 * end.
 */
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

/** The newest secret seals cursors; earlier ones still open theirs. No client ever sees a secret. */
const SECRETS_TABLE = statement`create table if not exists rowgate.secrets (
  number int4 primary key generated always as identity,
  secret bytea not null check (octet_length(secret) = 32),
  made_at timestamptz not null default now()
)`;

/** A random UUID of version 4 has 122 random bits, from the generator that Postgres uses for secrets. */
const FIRST_SECRET = statement`insert into rowgate.secrets (secret)
select pg_catalog.decode(pg_catalog.replace(
  pg_catalog.concat(pg_catalog.gen_random_uuid(), pg_catalog.gen_random_uuid()), '-', ''), 'hex')
where not exists (select from rowgate.secrets)`;

/** Lets the roles that can read tokens read the secrets as well. */
const SECRETS_GRANTS = grantToServingRoles("select on rowgate.secrets");

/** Admits every scope to the table of tokens. */
const SCOPES_VERSION: readonly Statement[] = [
  statement`alter table rowgate.tokens drop constraint if exists tokens_scopes_check`,
  statement`alter table rowgate.tokens add constraint tokens_scopes_check
  check (scopes <@ array[${SCOPES.map((scope) => `'${scope}'`).join(", ")}])`,
  noteVersion(11),
];

/**
 * The statements of each version, which migrate from the previous one. Each can be run again: if two
 * servers migrate in turn, the second changes nothing.
 */
export const VERSIONS: readonly (readonly Statement[])[] = [
  [
    statement`create schema if not exists rowgate`,
    MIGRATIONS_TABLE,
    TOKENS_TABLE,
    noteVersion(1),
  ],
  [
    AUDIT_TABLE,
    noteVersion(2),
  ],
  [
    SECRETS_TABLE,
    FIRST_SECRET,
    SECRETS_GRANTS,
    noteVersion(3),
  ],
  CHANGES_VERSION,
  WEBHOOKS_VERSION,
  IDEMPOTENCY_VERSION,
  RATES_VERSION,
  CHANGES_FUNCTIONS_VERSION,
  MOVED_VERSION,
  IMAGES_VERSION,
  SCOPES_VERSION,
];

/** The statements that create the schema `rowgate`, in order, for one transaction. @see R34 */
export const SCHEMA_STATEMENTS: readonly string[] = [OWN_PATH, ...VERSIONS.flat()].map((text) =>
  text[0]!
);
