import { grantToServingRoles, noteVersion, type Statement, statement } from "./statement.ts";

/**
 * The stored answers. Of the key and the request, only the SHA-256 is stored. `answer` is JSON with
 * only numbers of rows. It has no CHECK, which would take a seventh of the cost of storing an answer.
 */
const KEYS_TABLE = statement`create table if not exists rowgate.idempotency_keys (
  token_id text not null,
  key bytea not null,
  request bytea not null,
  at timestamptz not null default now(),
  answer text not null,
  primary key (token_id, key)
)`;

/** Lets the roles that serve store answers. */
const GRANTS = grantToServingRoles("select, insert, delete on rowgate.idempotency_keys");

/** The statements that create the table of stored answers. @see docs/specification/idempotency.md */
export const IDEMPOTENCY_VERSION: readonly Statement[] = [
  KEYS_TABLE,
  statement`create index if not exists idempotency_keys_at on rowgate.idempotency_keys (at)`,
  GRANTS,
  noteVersion(6),
];
