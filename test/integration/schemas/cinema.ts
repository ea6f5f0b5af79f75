import type { DescribedSchema } from "./described_schema.ts";

/** Cinemas, in a zone with summer time: partitions, a domain, views, and tenants over one and two keys. */
export const CINEMA: DescribedSchema = {
  name: "cinema",
  sql: `
do $$ begin
  execute format('alter database %I set timezone = ''America/New_York''', current_database());
end $$;
create domain release_year as int4 check (value between 1901 and 2155);
create type rating as enum ('G', 'PG', 'R');
create function touch() returns trigger language plpgsql as $$
  begin new.last_update := now(); return new; end $$;
create table cities (city_id int4 primary key, city text not null,
  last_update timestamp not null default now());
create table films (film_id serial primary key, org_id int4 not null, title varchar(255) not null,
  year release_year, rating rating default 'G', features text[], rate numeric(4, 2) not null,
  words tsvector, length int2, last_update timestamp not null default now());
create table copies (copy_id serial primary key, film_id int4 not null references films,
  shelf text, last_update timestamp not null default now());
create table rentals (rental_id serial primary key, copy_id int4 not null references copies on delete cascade,
  rented timestamp not null, returned timestamptz, last_update timestamp not null default now());
create table members (member_id int4 primary key, org_id int4 not null, city_id int4 references cities,
  email text unique, active bool not null default true, deleted_at timestamptz);
create table payments (payment_id int4 not null, org_id int4 not null, member_id int4 references members,
  amount numeric(5, 2) not null, paid_at timestamptz not null, primary key (paid_at, payment_id))
  partition by range (paid_at);
create table payments_old partition of payments for values from (minvalue) to ('2026-03-08');
create table payments_spring partition of payments for values from ('2026-03-08') to ('2026-11-01');
create table payments_late partition of payments default;
create view open_rentals as select r.rental_id, f.org_id, f.title, r.rented from rentals r
  join copies c using (copy_id) join films f using (film_id) where r.returned is null;
create materialized view ratings as select rating::text as rating, count(*) as films from films group by 1;
insert into cities select n, 'City ' || n, '2026-03-08 02:30' from generate_series(1, 3) n;
insert into films (org_id, title, year, rating, features, rate, words, length)
select 1 + n % 2, 'Film ' || n || case n % 2 when 1 then ' CANARY' else '' end, 1950 + n,
  (array['G', 'PG', 'R'])[1 + n % 3]::rating, array['Trailers', 'feature ' || n % 3], 0.99 + n % 4,
  to_tsvector('simple', 'film ' || n), case when n % 4 > 0 then 80 + n end
from generate_series(1, 24) n;
insert into copies (film_id, shelf) select film_id, 'S' || film_id % 5 from films, generate_series(1, 2);
insert into rentals (copy_id, rented, returned) select copy_id, '2026-11-01 00:30'::timestamp + copy_id * interval '17 min',
  case when copy_id % 3 > 0 then '2026-11-01 05:30Z'::timestamptz + copy_id * interval '1 hour' end from copies;
insert into members select n, 1 + n % 2, 1 + n % 3, 'm' || n || '@example.org', n % 5 > 0,
  case when n % 4 = 3 then now() end from generate_series(1, 20) n;
insert into payments select n, 1 + n % 2, n, n * 1.25, '2026-02-20'::timestamptz + n * interval '15 days'
from generate_series(1, 20) n;
refresh materialized view ratings;
create trigger touch before update on films for each row execute function touch();
create trigger touch before update on rentals for each row execute function touch();`,
  environment: { ROWGATE_TENANT_COLUMN: "org_id" },
  policy: {
    tables: {
      cities: { shared: true },
      copies: { tenant_via: { columns: ["film_id"], table: "films" } },
      rentals: { tenant_via: { columns: ["copy_id"], table: "copies" } },
      members: {
        hidden_columns: ["deleted_at"],
        only: { and: [{ field: "deleted_at", op: "is_null" }] },
      },
      open_rentals: { expose: true, primary_key: ["rental_id"] },
      ratings: { expose: true, shared: true, primary_key: ["rating"] },
    },
  },
  tenants: ["1", "2"],
  rows: {
    cities: "cities t where $1 <> ''",
    films: "films t where t.org_id::text = $1",
    copies: "copies t join films f using (film_id) where f.org_id::text = $1",
    rentals:
      "rentals t join copies c using (copy_id) join films f using (film_id) where f.org_id::text = $1",
    members: "members t where t.org_id::text = $1 and t.deleted_at is null",
    payments: "payments t where t.org_id::text = $1",
    open_rentals: "open_rentals t where t.org_id::text = $1",
    ratings: "ratings t where $1 <> ''",
  },
  followed: "films",
  left: [
    // The owner decides whether addresses are unique in each cinema or in all.
    /^unique_key:members\./,
  ],
};
