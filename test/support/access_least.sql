-- Takes from the serving role all that a client of the fixture cannot see anyway: hidden columns,
-- credential tables, tables that are not exposed, and every right on a whole table, so that not even
-- a system column can be read. What it may update stays as it is but for hidden columns.

do $$
declare
  target record;
  readable text;
begin
  for target in
    select c.oid, c.relname, c.relkind from pg_class c
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
      and c.relname <> 'ungranted'
  loop
    select string_agg(quote_ident(a.attname), ', ') into readable from pg_attribute a
    where a.attrelid = target.oid and a.attnum > 0 and not a.attisdropped
      and has_column_privilege('rowgate_app', target.oid, a.attnum, 'SELECT')
      and (target.relname, a.attname) <> ('deals', 'secret_score');
    execute format('revoke select on public.%I from rowgate_app', target.relname);
    if target.relname not in ('internal_settings', 'user_passwords', 'sessions', 'weird name') then
      execute format('grant select (%s) on public.%I to rowgate_app', readable, target.relname);
    end if;
  end loop;
  execute format('revoke create, temporary on database %I from public', current_database());
end $$;
revoke update (secret_score) on deals from rowgate_app;
revoke update on user_passwords, sessions, "weird name" from rowgate_app;
revoke all on schema public from public;
