import type { Change } from "./change.ts";

/**
 * Changes of rights, schemas, types, rules, partitions, feeds and views, and some that the catalogue
 * cannot see; after those of tables.
 */
export const OTHER_CHANGES: Readonly<Record<string, Change>> = {
  "a right on a table is revoked": {
    statements: ["revoke update on pets from READER"],
    describes: ["pets"],
  },
  "a right on a column is granted": {
    statements: ["grant update (name) on pets to READER"],
    describes: ["pets"],
  },
  "a right on a column is revoked": {
    statements: ["revoke update (name) on pets from READER"],
    describes: ["pets"],
  },
  "only some columns can be read": {
    statements: [
      "revoke select on pets from READER; grant select (id, tenant_id) on pets to READER",
    ],
    describes: ["pets"],
  },
  "system columns can be read": {
    statements: ["grant select (ctid, xmin, tableoid) on pets to READER"],
    describes: ["pets"],
  },
  "system columns can no longer be read": {
    statements: ["revoke select (ctid) on pets from READER"],
    describes: ["pets"],
  },
  "another role gets a right": {
    statements: ["grant select, update on pets to TEAM"],
    describes: ["pets"],
  },
  "the role becomes a member": {
    statements: ["grant TEAM to READER"],
    describesAll: true,
  },
  "the other role becomes a member too": {
    statements: ["grant pg_read_all_data to TEAM"],
    describesAll: true,
  },
  "the other role is no member any more": {
    statements: ["revoke pg_read_all_data from TEAM"],
    describesAll: true,
  },
  "the role inherits nothing any more": {
    statements: ["alter role READER noinherit; revoke TEAM from READER; grant TEAM to READER"],
    describesAll: true,
  },
  "the role is no member any more": {
    statements: ["alter role READER inherit; revoke TEAM from READER"],
  },
  "the role becomes a superuser": {
    statements: ["alter role READER superuser"],
    describesAll: true,
  },
  "the role is no superuser any more": {
    statements: ["alter role READER nosuperuser"],
    describesAll: true,
  },
  "every role gets a right": {
    statements: ["grant select on pets to public"],
    describes: ["pets"],
  },
  "a table gets another owner": {
    statements: ["alter table pets owner to READER"],
    describes: ["pets"],
  },
  "a schema is closed": { statements: ["revoke usage on schema sales from READER"] },
  "a schema is opened": {
    statements: ["grant usage on schema sales to READER"],
    describes: ["orders"],
  },
  "a schema is renamed": { statements: ["alter schema sales rename to trade"] },
  "a schema is renamed back": {
    statements: ["alter schema trade rename to sales"],
    describes: ["orders"],
  },
  "two schemas change their names": {
    statements: [
      `create schema depot; grant usage on schema depot to READER;
      create table depot.orders (id int4, tenant_id int4);
      alter schema sales rename to held; alter schema depot rename to sales`,
    ],
    describes: ["orders"],
  },
  "two schemas change their names back": {
    statements: ["alter schema sales rename to depot; alter schema held rename to sales"],
    describes: ["orders"],
  },
  "two exposed schemas change their names": {
    statements: [
      `alter schema sales rename to held; alter schema branch rename to sales;
      alter schema held rename to branch`,
    ],
    describes: ["orders", "visits"],
  },
  "two exposed schemas change their names back": {
    statements: [
      `alter schema sales rename to held; alter schema branch rename to sales;
      alter schema held rename to branch`,
    ],
    describes: ["orders", "visits"],
  },
  "an enum gets a label": { statements: ["alter type mood add value 'happy'"] },
  "a label is renamed": { statements: ["alter type mood rename value 'ok' to 'fine'"] },
  "an enum is renamed": { statements: ["alter type mood rename to temper"] },
  "an enum gets its name back": { statements: ["alter type temper rename to mood"] },
  "a domain gets a constraint": {
    statements: ["alter domain amount add constraint positive check (value > 0)"],
  },
  "a domain is renamed": { statements: ["alter domain amount rename to price"] },
  "a domain gets its name back": { statements: ["alter domain price rename to amount"] },
  "a domain is not null": { statements: ["alter domain amount set not null"] },
  "a domain gets another schema": { statements: ["alter domain amount set schema attic"] },
  "a type with a modifier is renamed": {
    statements: ["alter type tag rename to label"],
    describes: ["people"],
  },
  "a type with a modifier gets another schema": {
    statements: ["alter type label set schema attic"],
    describes: ["people"],
  },
  "a new type is used": {
    statements: [
      "create type size as enum ('s', 'm')",
      "create table shirts (id int4 primary key, tenant_id int4 not null, size size)",
    ],
    describes: ["shirts"],
  },
  "a type is dropped with its column": {
    statements: ["drop type size cascade"],
    describes: ["shirts"],
  },
  // Where an extension cannot be had, the column is of a type of Postgres.
  "a type of an extension is used": {
    statements: [
      `do $$ begin
        create extension citext schema public; alter table pets add column email citext;
      exception when others then alter table pets add column email text; end $$`,
    ],
    describes: ["pets"],
  },
  "an extension gets another schema": {
    statements: [
      `do $$ begin alter extension citext set schema attic; exception when others then null; end $$`,
    ],
  },
  "an extension is dropped": {
    statements: [
      "drop extension if exists citext cascade; alter table pets drop column if exists email",
    ],
    describes: ["pets"],
  },
  "an update gets a rule": {
    statements: ["create rule quiet as on update to people do also nothing"],
    describes: ["people"],
  },
  "a rule is dropped": { statements: ["drop rule quiet on people"], describes: ["people"] },
  "a partition is attached": {
    statements: [
      "alter table days attach partition days_2025 for values from ('2025-01-01') to ('2026-01-01')",
    ],
    describes: ["days"],
  },
  "a partition is detached": {
    statements: ["alter table days detach partition days_2025"],
    describes: ["days", "days_2025"],
  },
  "a partition of another engine is made": {
    statements: [
      `create table days_2026 partition of days for values from ('2026-01-01') to ('2027-01-01')
      using strange`,
    ],
    describes: ["days"],
  },
  "a partition is dropped": { statements: ["drop table days_2026"], describes: ["days"] },
  "a foreign partition is made": {
    statements: [
      `create foreign data wrapper nothing; create server nowhere foreign data wrapper nothing;
      create foreign table days_2027 partition of days
      for values from ('2027-01-01') to ('2028-01-01') server nowhere`,
    ],
    describes: ["days"],
  },
  "a foreign partition is dropped": {
    statements: ["drop foreign data wrapper nothing cascade"],
    describes: ["days"],
  },
  "a table becomes a partition": {
    statements: [
      "alter table days attach partition days_2025 for values from ('2025-01-01') to ('2026-01-01')",
    ],
    describes: ["days"],
  },
  "a child table of two parents gets a column": {
    statements: [
      `create table swifts () inherits (birds, animals)`,
      "alter table swifts add column wings int4",
    ],
    describes: ["animals", "birds", "swifts"],
  },
  "the last child table is dropped": {
    statements: ["drop table swifts; drop table birds"],
    describes: ["animals"],
  },
  "a feed is enabled": {
    statements: [
      `create trigger rowgate_changes_insert after insert on pets
      for each row execute function rowgate.changes_1()`,
    ],
    describes: ["pets"],
  },
  "a feed gets another number": {
    statements: [
      `drop trigger rowgate_changes_insert on pets; create trigger rowgate_changes_insert
      after insert on pets for each row execute function rowgate.changes_2()`,
    ],
    describes: ["pets"],
  },
  "the function of a feed is renamed": {
    statements: ["alter function rowgate.changes_2() rename to changes_3"],
    describes: ["pets"],
  },
  "a feed is disabled": {
    statements: ["drop trigger rowgate_changes_insert on pets"],
    describes: ["pets"],
  },
  "a view can no longer be updated": {
    statements: [
      "create or replace view adults as select distinct id, tenant_id, name from people",
    ],
  },
  "a view gets an option": { statements: ["alter view adults set (security_barrier = true)"] },
  "a view is renamed": { statements: ["alter view adults rename to old_people"] },
  "a view gets its name back": { statements: ["alter view old_people rename to adults"] },
  "a column beneath a view is renamed": {
    statements: ["alter table people rename column name to called"],
    describes: ["people"],
  },
  "a column that a foreign key refers to is renamed": {
    statements: ["alter table people rename column id to number"],
    describes: ["people", "pets"],
  },
  "a foreign key is dropped": {
    statements: ["alter table lines drop constraint lines_person_fkey"],
  },
  "a foreign key is added": {
    statements: ["alter table lines add foreign key (person) references people"],
  },
  "a materialised view gets an index": {
    statements: ["create unique index on totals (tenant_id)"],
    describes: ["totals"],
  },
  "a table becomes a view": {
    statements: ["drop table lookups; create view lookups as select 'a' as code, 'b' as label"],
  },
  "the database gets a time zone": {
    statements: ["alter database DATABASE set timezone = 'Asia/Tokyo'"],
  },
  "a credential table is made": {
    statements: ["create table sales.secrets (id int4, tenant_id int4)"],
    describes: ["secrets"],
  },
  "a table that the policy names is made": {
    statements: ["create table orders_of_old (id int4, tenant_id int4)"],
    describes: ["orders_of_old"],
  },
  "rows are written": {
    statements: ["insert into sales.orders values (1, 1); update sales.orders set total = 2"],
  },
  "tables are analysed, vacuumed and frozen": {
    statements: ["vacuum full pg_attribute", "vacuum (freeze, analyze)"],
    // ANALYZE notices that its child tables are gone.
    describes: ["animals"],
  },
  "a temporary table is made": {
    statements: [
      "create temporary table people (id int4, tenant_id int4)",
      "drop table pg_temp.people",
    ],
  },
  "a table of another schema is made": {
    statements: ["create table attic.old (id int4, tenant_id int4)"],
  },
  "all rows are dropped": {
    statements: ["truncate people cascade"],
    describes: ["people", "pets"],
  },
};
