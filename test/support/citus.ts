/**
 * Stands in for Citus on plain Postgres: its tables, and functions that only note what they are given. They
 * reject what Citus is known to reject, as far as keys are concerned.
 */
export const CITUS = `
set allow_system_table_mods = on;
create table pg_catalog.pg_dist_node (nodeid int4);
create table pg_catalog.pg_dist_partition (logicalrelid regclass, partmethod "char", partkey text);
grant select on pg_dist_node, pg_dist_partition to public;
reset allow_system_table_mods;
create function pg_catalog.create_reference_table(one regclass) returns void language sql as
  $$ insert into pg_catalog.pg_dist_partition values (one, 'n', null) $$;
create function pg_catalog.create_distributed_table(one regclass, by text, colocate_with text) returns void
  language plpgsql as $$
declare number int2 := (select attnum from pg_attribute where attrelid = one and attname = by);
begin
  if exists (select from pg_index where indrelid = one and indisunique
      and not number = any (indkey::int2[])) then
    raise exception 'a unique index of % lacks %', one, by;
  end if;
  if exists (select from pg_constraint k where k.conrelid = one and k.contype = 'f'
      and not exists (select from pg_catalog.pg_dist_partition d
        where d.logicalrelid = k.confrelid and (d.partkey is null or number = any (k.conkey)))) then
    raise exception 'a foreign key of % leads to a table that is not distributed', one;
  end if;
  insert into pg_catalog.pg_dist_partition
    values (one, 'h', format('{VAR :varno 1 :varattno %s :vartype 25}', number));
end $$;`;
