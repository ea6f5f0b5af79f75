import type { Change } from "./change.ts";

/** Changes of columns, tables, keys and comments, in an order in which all are possible. */
export const TABLE_CHANGES: Readonly<Record<string, Change>> = {
  "a column is added": {
    statements: ["alter table people add column height int4"],
    describes: ["people"],
  },
  "a column is renamed": {
    statements: ["alter table people rename column height to size"],
    describes: ["people"],
  },
  "a column gets another type": {
    statements: ["alter table people alter column size type numeric(5, 1)"],
    describes: ["people"],
  },
  "a column gets a length": {
    statements: ["alter table sales.orders alter column total type numeric(9, 2)"],
    describes: ["orders"],
  },
  "a column gets a default": {
    statements: ["alter table people alter column size set default 1"],
    describes: ["people"],
  },
  "a column is not null": {
    statements: ["alter table pets alter column owner set not null"],
    describes: ["pets"],
  },
  "a column may be null": {
    statements: ["alter table pets alter column owner drop not null"],
    describes: ["pets"],
  },
  "a column is dropped": {
    statements: ["alter table people drop column size"],
    describes: ["people"],
  },
  "a generated column is added": {
    statements: ["alter table pets add column twice int4 generated always as (id * 2) stored"],
    describes: ["pets"],
  },
  "a column gets another collation": {
    statements: [`alter table pets alter column name type text collate "C"`],
    describes: ["pets"],
  },
  "a column becomes an identity": {
    statements: ["alter table animals alter column id add generated always as identity"],
    describes: ["animals"],
  },
  "a tenant column is added": {
    statements: ["create table late (id int4 primary key)", "alter table late add tenant_id int4"],
    describes: ["late"],
  },
  "a tenant column is dropped": {
    statements: ["alter table late drop column tenant_id"],
  },
  "a table is created": {
    statements: ["create table added (id int4 primary key, tenant_id int4 not null, mood mood)"],
    describes: ["added"],
  },
  "a table is renamed": {
    statements: ["alter table added rename to moved"],
    describes: ["moved"],
  },
  "a table gets another schema": {
    statements: ["alter table moved set schema sales"],
    describes: ["moved"],
  },
  "a table leaves the schemas": {
    statements: ["alter table sales.moved set schema attic"],
  },
  "a table comes back from another schema": {
    statements: ["alter table attic.moved set schema public"],
    describes: ["moved"],
  },
  "a table is dropped": {
    statements: ["drop table moved"],
  },
  "a table is dropped and made again": {
    statements: [
      "drop table if exists again; create table again (id int4, tenant_id int4, a int4)",
      "drop table again; create table again (id int4, tenant_id int4, b text)",
    ],
    describes: ["again"],
  },
  "two tables change their names": {
    statements: [
      `alter table pets rename to held; alter table animals rename to pets;
      alter table held rename to animals`,
    ],
    describes: ["animals", "pets"],
  },
  "two tables change their names back": {
    statements: [
      `alter table pets rename to held; alter table animals rename to pets;
      alter table held rename to animals`,
    ],
    describes: ["animals", "pets"],
  },
  "an index is made": {
    statements: ["create index pets_name on pets (tenant_id, name)"],
    describes: ["pets"],
  },
  "a unique index is made": {
    statements: ["create unique index people_born on people (tenant_id, id)"],
    describes: ["people"],
  },
  "an index is made while others write": {
    statements: ["create index concurrently people_mood on people (tenant_id, mood)"],
    describes: ["people"],
  },
  "an index becomes invalid": {
    statements: [
      "update pg_index set indisvalid = false where indexrelid = 'people_mood'::regclass",
    ],
    describes: ["people"],
  },
  "an index is dropped": {
    statements: ["drop index pets_name"],
    describes: ["pets"],
  },
  "a unique constraint is added": {
    statements: ["alter table pets add constraint pets_owner unique (tenant_id, owner)"],
    describes: ["pets"],
  },
  "a constraint is dropped": {
    statements: ["alter table pets drop constraint pets_owner"],
    describes: ["pets"],
  },
  "a check constraint is added": {
    statements: ["alter table pets add check (id > 0)"],
    describes: ["pets"],
  },
  "row security is enabled": {
    statements: ["alter table pets enable row level security"],
    describes: ["pets"],
  },
  "row security holds for the owner": {
    statements: ["alter table pets force row level security"],
    describes: ["pets"],
  },
  "a policy is made": {
    statements: ["create policy own on pets using (tenant_id = 1)"],
    describes: ["pets"],
  },
  "row security is disabled": {
    statements: ["alter table pets disable row level security"],
    describes: ["pets"],
  },
  "a primary key is dropped": {
    statements: ["alter table sales.orders drop constraint orders_pkey"],
    describes: ["orders"],
  },
  "a primary key is added": {
    statements: ["alter table sales.orders add primary key (tenant_id, id)"],
    describes: ["orders"],
  },
  "a table gets a comment": {
    statements: ["comment on table people is 'Who we know'"],
    describes: ["people"],
  },
  "a column gets a comment": {
    statements: ["comment on column people.name is 'What they are called'"],
    describes: ["people"],
  },
  "a comment changes": {
    statements: ["comment on column people.name is 'Their name'"],
    describes: ["people"],
  },
  "a comment is removed": {
    statements: ["comment on table people is null"],
    describes: ["people"],
  },
  "an index gets a comment": { statements: ["comment on index pets_pkey is 'The key'"] },
};
