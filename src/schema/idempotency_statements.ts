import { grantToServingRoles, noteVersion, type Statement, statement } from "./statement.ts";

/**
 * What is kept under a key, of which only the SHA-256 is stored, as of the request. `answer` is JSON with
 * nothing but numbers of rows. A CHECK would be a seventh of what keeping an answer costs.
 */
const KEYS_TABLE = statement`create table if not exists rowgate.idempotency_keys (
  token_id text not null,
  key bytea not null,
  request bytea not null,
  at timestamptz not null default now(),
  answer text not null,
  primary key (token_id, key)
)`;

/** Lets the roles that serve keep answers. */
const GRANTS = grantToServingRoles("select, insert, delete on rowgate.idempotency_keys");

/** The statements that create the table of answers that are kept. @see docs/specification/idempotency.md */
export const IDEMPOTENCY_VERSION: readonly Statement[] = [
  KEYS_TABLE,
  statement`create index if not exists idempotency_keys_at on rowgate.idempotency_keys (at)`,
  GRANTS,
  noteVersion(6),
];
