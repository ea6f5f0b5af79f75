/** How many tables `CREATE_MANY_TABLES` makes: `t_1` and so on. */
export const MANY_TABLES = 500;

/** Creates many tables of tenants, each with a comment. */
export const CREATE_MANY_TABLES = `do $$ begin for n in 1..${MANY_TABLES} loop
  execute format('create table t_%s (id int4 primary key, tenant_id int4 not null)', n);
  execute format('grant select, update on t_%s to rowgate_app', n);
  execute format('comment on table t_%s is %L', n, repeat('all about it ', 10));
end loop; end $$`;
