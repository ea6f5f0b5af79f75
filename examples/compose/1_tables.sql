-- An example of your own tables: two tenants, and a key and an index that begin with the tenant column.
create table countries (code text primary key, name text not null);
insert into countries values ('de', 'Germany'), ('fr', 'France');

create table orders (
  tenant_id text not null,
  id int8 generated always as identity,
  status text not null default 'placed' check (status in ('placed', 'paid', 'shipped')),
  total numeric(12, 2) not null,
  country text references countries,
  note text,
  internal_rating int4,
  modified_at timestamptz not null default clock_timestamp(),
  primary key (tenant_id, id)
);
create index on orders (tenant_id, modified_at, id);
insert into orders (tenant_id, total, country, note)
select tenant, 10 * n, 'de', null from unnest(array['acme', 'globex']) tenant, generate_series(1, 20) n;

create function keep_modified_at() returns trigger language plpgsql as $$
begin
  new.modified_at := clock_timestamp();
  return new;
end $$;
create trigger orders_modified before update on orders
  for each row execute function keep_modified_at();
