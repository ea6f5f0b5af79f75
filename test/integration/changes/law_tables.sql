create table items (
  id int8 primary key,
  tenant_id text not null,
  n int8 not null,
  modified_at timestamptz not null default clock_timestamp()
);
create index on items (tenant_id, id);
create table lines (
  item_id int8 not null references items on delete cascade on update cascade,
  line_no int4 not null,
  tenant_id text not null,
  n int8 not null,
  modified_at timestamptz not null default clock_timestamp(),
  primary key (item_id, line_no)
);
create table parts (
  id int8 not null,
  tenant_id text not null,
  n int8 not null,
  modified_at timestamptz not null default clock_timestamp(),
  primary key (id)
) partition by range (id);
create table parts_low partition of parts for values from (minvalue) to (50);
create table parts_mid partition of parts for values from (50) to (100) partition by range (id);
create table parts_mid_a partition of parts_mid for values from (50) to (75);
create table parts_mid_b partition of parts_mid for values from (75) to (100);
create function keep_modified_at() returns trigger language plpgsql as $$
begin
  new.modified_at := clock_timestamp();
  return new;
end $$;
create trigger modified before update on items for each row execute function keep_modified_at();
create trigger modified before update on lines for each row execute function keep_modified_at();
create trigger modified before update on parts for each row execute function keep_modified_at();
