/** Marks a statement without parameters, which can be run and printed. */
function statement(text: TemplateStringsArray): TemplateStringsArray {
  return text;
}

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

/** Lets the roles that read tokens already, and hence serve, keep answers as well. */
const GRANTS = statement`do $rowgate$
declare
  reader text;
begin
  for reader in
    select distinct pg_catalog.quote_ident(r.rolname)
    from pg_catalog.pg_class c, pg_catalog.aclexplode(c.relacl) a, pg_catalog.pg_roles r
    where c.oid = 'rowgate.tokens'::pg_catalog.regclass and a.privilege_type = 'SELECT'
      and r.oid = a.grantee and r.oid <> c.relowner
  loop
    execute pg_catalog.concat('grant select, insert, delete on rowgate.idempotency_keys to ', reader);
  end loop;
end $rowgate$`;

/** The statements that create the table of answers that are kept. @see docs/specification/idempotency.md */
export const IDEMPOTENCY_VERSION: readonly TemplateStringsArray[] = [
  KEYS_TABLE,
  statement`create index if not exists idempotency_keys_at on rowgate.idempotency_keys (at)`,
  GRANTS,
  statement`insert into rowgate.migrations (version) values (6) on conflict do nothing`,
];
