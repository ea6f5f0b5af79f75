/** The schema before the changes. */
export const SCHEMA = `
  create schema sales;
  create schema branch;
  create schema if not exists rowgate;
  create schema attic;
  grant usage on schema public, sales, branch to READER, TEAM;
  create type public.mood as enum ('sad', 'ok');
  create domain public.amount as numeric(10, 2);
  create type public.tag;
  create function public.tag_in(cstring, oid, int4) returns public.tag
    language internal immutable strict as 'varcharin';
  create function public.tag_out(public.tag) returns cstring
    language internal immutable strict as 'varcharout';
  create type public.tag (input = public.tag_in, output = public.tag_out, like = pg_catalog.varchar,
    typmod_in = pg_catalog.varchartypmodin, typmod_out = pg_catalog.varchartypmodout);
  create table people (id int4 primary key, tenant_id int4 not null, name varchar(20), mood mood,
    price amount, tags text[], code tag(5), born timestamp);
  create table pets (tenant_id int4, id int4, owner int4 references people, name text,
    primary key (tenant_id, id));
  create table lines (id int4 primary key, person int4 not null references people, note text);
  create table days (id int4, tenant_id int4 not null, day date not null) partition by range (day);
  create table days_2024 partition of days for values from ('2024-01-01') to ('2025-01-01');
  create table days_2025 (like days);
  create table animals (id int4 primary key, tenant_id int4 not null);
  create table birds () inherits (animals);
  create view adults as select id, tenant_id, name from people;
  create materialized view totals as select tenant_id, count(*) as people from people group by 1;
  create table lookups (code text primary key, label text);
  create table vault (id int4 primary key, tenant_id int4);
  create table sales.orders (id int8 primary key, tenant_id int4 not null, total numeric(8, 2));
  create table branch.visits (id int8 primary key, tenant_id int4 not null);
  create function rowgate.changes_1() returns trigger language plpgsql as 'begin return null; end';
  create function rowgate.changes_2() returns trigger language plpgsql as 'begin return null; end';
  create access method strange type table handler heap_tableam_handler;
  grant select, update on people, pets, lines, days, animals, adults, totals, lookups, sales.orders,
    branch.visits to READER;`;

/** The policy of the schema. */
export const POLICY = {
  tables: {
    lines: { tenant_via: { columns: ["person"], table: "people" } },
    adults: { expose: true, primary_key: ["id"], writable: true },
    totals: { expose: true },
    lookups: { shared: true },
    orders_of_old: { read_only: true },
  },
  credential_tables: ["vault", "sales_secrets"],
};
