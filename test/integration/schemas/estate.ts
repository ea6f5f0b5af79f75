import process from "node:process";
import type { DescribedSchema } from "./described_schema.ts";

const tenant_columns = ["firm", "branch"];
/** With the tables below, 50; 500 in the long form, which tries the same on more tables. */
const COUNT = process.env.ROWGATE_TEST_RUNS === undefined ? 45 : 495;
const MANY = Array.from({ length: COUNT }, (_, n) => `log_${String(n + 1).padStart(3, "0")}`);

/** Houses of the branches of firms: composite tenants, and many tables that are alike. */
export const ESTATE: DescribedSchema = {
  name: "estate",
  sql: `
create table regions (id int4 primary key, name text not null);
create table houses (firm int8, branch text, no int4, region int4 references regions, address text not null,
  primary key (firm, branch, no));
create table flats (id int4 primary key, firm int8 not null, branch text not null, house int4 not null,
  rent numeric(10, 2), foreign key (firm, branch, house) references houses);
create table door_keys (id int4 primary key, firm int8 not null, branch text not null,
  flat_id int4 references flats on delete set null deferrable, holder text not null);
create table visits (id int4 primary key, flat_id int4 not null references flats, at timestamp not null);
insert into regions values (1, 'North'), (2, 'South');
insert into houses select f, b, n, 1 + n % 2, 'Street ' || n || case when (f, b) = (7, '3') then ' B' else '' end
from unnest(array[7, 9000000000]) f, unnest(array['2', '3']) b, generate_series(1, 4) n;
insert into flats select row_number() over (), firm, branch, no, no * 700.50 from houses, generate_series(1, 2);
insert into door_keys select id, firm, branch, id, 'Holder ' || id from flats;
insert into visits select id, id, '2026-05-05 12:00' from flats;
${
    MANY.map((name) =>
      `create table ${name} (firm int8, branch text, id int4, note text not null, primary key (firm, branch, id));` +
      `insert into ${name} values (7, '2', 1, 'a'), (7, '3', 1, 'c'), (7, '2', 2, 'b');`
    ).join("\n")
  }`,
  environment: { ROWGATE_TENANT_COLUMN: "nobody_has_this" },
  policy: {
    tables: {
      regions: { shared: true },
      houses: { tenant_columns },
      flats: { tenant_columns },
      door_keys: { tenant_columns },
      visits: { tenant_via: { columns: ["flat_id"], table: "flats" } },
      ...Object.fromEntries(MANY.map((name) => [name, { tenant_columns }])),
    },
  },
  tenants: ["7/2", "7/3"],
  rows: {
    regions: "regions t where $1 <> ''",
    houses: "houses t where t.firm || '/' || t.branch = $1",
    flats: "flats t where t.firm || '/' || t.branch = $1",
    door_keys: "door_keys t where t.firm || '/' || t.branch = $1",
    visits: "visits t join flats f on f.id = t.flat_id where f.firm || '/' || f.branch = $1",
    ...Object.fromEntries(
      MANY.map((name) => [name, `${name} t where t.firm || '/' || t.branch = $1`]),
    ),
  },
  followed: "regions",
  left: [],
};
