-- Copies every operator and function of pg_catalog that can be copied into the schema public. Each
-- fits as well as the original, or better, and raises an exception. With them come operators for the
-- types that pg_catalog has no operator of its own for, as another role would plant them.
do $planted$
declare
  one record;
  made text;
  name text;
begin
  for one in
    select p.oid, p.proname, pg_catalog.pg_get_function_identity_arguments(p.oid) as arguments,
      pg_catalog.format_type(p.prorettype, null) as result, p.proretset, p.provariadic
    from pg_catalog.pg_proc p
    where p.pronamespace = 'pg_catalog'::pg_catalog.regnamespace and p.prokind = 'f'
      and p.proargmodes is null
      and not exists (select from pg_catalog.unnest(p.proargtypes::pg_catalog.oid[]) a (type)
        join pg_catalog.pg_type t on t.oid = a.type where t.typtype = 'p')
      and (select t.typtype <> 'p' from pg_catalog.pg_type t where t.oid = p.prorettype)
  loop
    begin
      execute pg_catalog.format(
        'create function public.%I(%s) returns %s %s language plpgsql as %L', one.proname,
        one.arguments, case when one.proretset then 'setof' else '' end, one.result,
        'begin raise exception ''planted''; end');
    exception when others then null;
    end;
  end loop;
  for one in
    select l.type as left, r.type as right, 'boolean' as result,
      array['=', '<>', '<', '<=', '>', '>=', '~~', '!~~', '~~*', '!~~*', '@>', '&&', '~'] as names
    from (select pg_catalog.format_type(t.oid, null) as type from pg_catalog.pg_type t
        where t.typisdefined and (t.typname in ('bool', 'bytea', 'char', 'name', 'int8', 'int2', 'int4',
            'text', 'oid', 'json', 'float4', 'float8', 'money', 'bpchar', 'varchar', 'date', 'time',
            'timetz', 'timestamp', 'timestamptz', 'interval', 'bit', 'varbit', 'numeric', 'uuid', 'jsonb',
            'inet', 'cidr', 'int4range', 'daterange', 'tstzrange', 'xid', 'xid8', 'tid', 'regclass',
            '_text', '_int4', '_int2', '_int8', '_oid', '_varchar', '_name', '_char', '_uuid', '_numeric')
          or t.typnamespace = 'public'::pg_catalog.regnamespace and t.typtype in ('e', 'd', 'r'))) l,
      lateral (select l.type union select 'text' union select 'character varying') r (type)
    union all
    select pg_catalog.format_type(o.oprleft, null), pg_catalog.format_type(o.oprright, null),
      pg_catalog.format_type(o.oprresult, null), pg_catalog.array_agg(o.oprname::text)
    from pg_catalog.pg_operator o
    where o.oprname in ('+', '-', '*', '/', '||', '->', '->>', '&', '%')
      and o.oprnamespace = 'pg_catalog'::pg_catalog.regnamespace and o.oprleft <> 0
      and not exists (select from pg_catalog.pg_type t where t.typtype = 'p'
        and t.oid in (o.oprleft, o.oprright, o.oprresult))
    group by o.oprleft, o.oprright, o.oprresult
  loop
    made := 'planted_' || pg_catalog.md5(one.left || one.right || one.result);
    execute pg_catalog.format('create or replace function public.%s(%s, %s) returns %s
      language plpgsql as %L', made, one.left, one.right, one.result,
      'begin raise exception ''planted''; end');
    foreach name in array one.names loop
      execute pg_catalog.format('create operator public.%s (leftarg = %s, rightarg = %s, function = public.%s)',
        name, one.left, one.right, made);
    end loop;
  end loop;
  -- Aggregates and functions that take any type fit a row type better when they name it.
  for one in
    select t.typname as type, a.name from pg_catalog.pg_type t
    join pg_catalog.pg_class c on c.oid = t.typrelid and c.relkind in ('r', 'v', 'p'),
      (values ('json_agg'), ('count'), ('row_to_json'), ('to_json')) a (name)
    where t.typnamespace in ('public'::pg_catalog.regnamespace)
  loop
    execute pg_catalog.format(
      'create function public.%I(public.%I) returns pg_catalog.json language plpgsql as %L',
      one.name, one.type, 'begin raise exception ''planted''; end');
  end loop;
end $planted$;
