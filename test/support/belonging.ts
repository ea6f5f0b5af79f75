/**
 * Tables whose rows belong to those of other tables: rooms to homes, beds to rooms, meters to sites by a
 * key of two columns. Tenant 2 has the same rooms with keys from 101 on, and its texts say CANARY.
 */
export const BELONGING_SCHEMA = `
create table homes (id int4 primary key, tenant_id int4 not null, name text not null);
create table rooms (id int4 primary key, home_id int4 references homes, name text not null,
  seats int4 not null default 1 check (seats >= 0));
create table beds (room_id int4 not null references rooms, place int2 not null,
  state text not null, primary key (room_id, place));
create table keepers (id int4 primary key, tenant_id int4 not null, home_id int4 references homes,
  seats int4);
create table sites (region int4, no int4, tenant_id int4 not null, primary key (region, no));
create table meters (id int4 primary key, region int4 not null, site int4, reading int4 not null,
  foreign key (site, region) references sites (no, region));
insert into homes select n + (t - 1) * 100, t, 'home ' || n || s
from generate_series(1, 2) t, generate_series(1, 3) n,
  lateral (select case t when 2 then ' CANARY' else '' end s) z;
insert into rooms select n + (t - 1) * 100, 1 + n % 3 + (t - 1) * 100, 'room ' || n || s, n
from generate_series(1, 2) t, generate_series(1, 12) n,
  lateral (select case t when 2 then ' CANARY' else '' end s) z;
insert into rooms values (50, null, 'room of nobody SECRET', 1);
insert into beds select r.id, p, 'free' || case when r.id > 100 then ' CANARY' else '' end
from rooms r, generate_series(1, 2) p where r.id <> 50;
insert into keepers values (7, 1, 1, 1), (107, 2, 101, 1);
insert into sites values (1, 1, 1), (1, 2, 2), (2, 1, 1), (2, 2, 1), (3, 2, 1);
insert into meters values (1, 1, 1, 10), (2, 2, 1, 20), (3, 2, 2, 30), (101, 1, 2, 40), (50, 1, null, 50);
create index on rooms (home_id);
create index on meters (site, region);
grant select, update on homes, rooms, beds, keepers, sites, meters to public;`;

/** The policy for them. */
export const BELONGING_POLICY = {
  tables: {
    rooms: { tenant_via: { columns: ["home_id"], table: "homes" } },
    beds: { tenant_via: { columns: ["room_id"], table: "rooms" } },
    meters: { tenant_via: { columns: ["region", "site"], table: "sites" } },
  },
};
