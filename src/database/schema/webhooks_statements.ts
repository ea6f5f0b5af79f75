import { noteVersion, type Statement, statement } from "./statement.ts";

/** The index finds due webhooks; `due_at` is also the end of a lease. */
const WEBHOOKS_TABLE = statement`create table if not exists rowgate.webhooks (
  id text primary key,
  number int8 not null unique generated always as identity,
  token_id text not null references rowgate.tokens (id) on delete cascade,
  tenant text not null,
  schema_name text not null,
  url text not null,
  secret text not null,
  tables text[] not null,
  positions jsonb not null,
  state text not null default 'enabled' check (state in ('enabled', 'disabled')),
  reason text,
  created_at timestamptz not null default clock_timestamp(),
  disabled_at timestamptz,
  due_at timestamptz not null default clock_timestamp(),
  lease text,
  woken bool not null default false,
  failed_attempts int4 not null default 0,
  last_attempt_at timestamptz,
  last_error text,
  delivered int8 not null default 0,
  delivered_at timestamptz,
  message_id text,
  message_table text,
  message_cursor text,
  message text
)`;

/** The statements that create the table of webhooks, and let tokens have them. */
export const WEBHOOKS_VERSION: readonly Statement[] = [
  WEBHOOKS_TABLE,
  statement`create index if not exists webhooks_due on rowgate.webhooks (due_at)
  where state = 'enabled'`,
  statement`alter table rowgate.tokens drop constraint if exists tokens_scopes_check`,
  statement`alter table rowgate.tokens add constraint tokens_scopes_check
  check (scopes <@ array['query', 'update', 'webhooks'])`,
  noteVersion(5),
];
