/** Marks a statement without parameters, which can be run and printed. */
function statement(text: TemplateStringsArray): TemplateStringsArray {
  return text;
}

/**
 * What is kept under a key, of which only the SHA-256 is stored. `matched` is that of a 404 or 409;
 * `updated` is that of a 200, one number for each update of a batch.
 */
const KEYS_TABLE = statement`create table if not exists rowgate.idempotency_keys (
  token_id text not null,
  key bytea not null check (octet_length(key) = 32),
  request bytea not null check (octet_length(request) = 32),
  at timestamptz not null default now(),
  matched int8,
  updated int8[],
  place int4,
  check ((matched is null) <> (updated is null)),
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
