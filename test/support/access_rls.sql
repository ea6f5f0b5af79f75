-- Puts every table that has a tenant, and every one that a test makes, under row level security by the
-- setting app.tenant_id, forced for its owner too. The tables of the fixture belong to the superuser.

create schema access_of_tests;

create function access_of_tests.protect(target oid) returns void language plpgsql as $$
declare
  tenant record;
begin
  select a.attname, format_type(a.atttypid, null) as type into tenant
  from pg_attribute a join pg_class c on c.oid = a.attrelid
  where a.attrelid = target and a.attnum > 0 and not a.attisdropped
    and a.attname in ('tenant_id', 'org_id', 'org', 'account_id', 'company_no')
    and c.relkind in ('r', 'p') and not c.relrowsecurity and c.relpersistence <> 't';
  if not found then return; end if;
  execute format('alter table %s enable row level security', target::regclass);
  execute format('alter table %s force row level security', target::regclass);
  execute format('create policy access_of_tests on %s
    using (%2$I = nullif(current_setting(''app.tenant_id'', true), '''')::%3$s)
    with check (%2$I = nullif(current_setting(''app.tenant_id'', true), '''')::%3$s)',
    target::regclass, tenant.attname, tenant.type);
end $$;

-- The serving role makes temporary tables, and has no right on this schema.
create function access_of_tests.protect_made() returns event_trigger
  language plpgsql security definer as $$
declare
  made record;
begin
  for made in select distinct objid from pg_event_trigger_ddl_commands()
    where classid = 'pg_class'::regclass and object_type = 'table' loop
    perform access_of_tests.protect(made.objid);
  end loop;
end $$;

select access_of_tests.protect(oid) from pg_class where relnamespace = 'public'::regnamespace;

create event trigger access_of_tests on ddl_command_end
  when tag in ('CREATE TABLE', 'CREATE TABLE AS', 'SELECT INTO')
  execute function access_of_tests.protect_made();
