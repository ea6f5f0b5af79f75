import type { DescribedSchema } from "./described_schema.ts";

/** A trading firm whose names have blanks, umlauts and quotes: inheritance, and tenants that are uuids. */
export const TRADING: DescribedSchema = {
  name: "trading",
  sql: `
create table "Kunden" ("Kunden-Nr" char(5), account_id uuid not null, "Firma" varchar(40) not null,
  "Straße" text, "PLZ Ort" text, "Fotos" bytea, "Notizen" jsonb, primary key (account_id, "Kunden-Nr"));
create table "Länder" (code char(2) primary key, "Name ""kurz""" text not null);
create table "Bestellungen" ("Bestell-Nr" int8 generated always as identity primary key,
  account_id uuid not null, kunde char(5), "Land" char(2) references "Länder",
  "Bestellt am" date not null, "Fracht" money, "geändert am" timestamptz not null default now(),
  foreign key (account_id, kunde) references "Kunden" (account_id, "Kunden-Nr") on update cascade);
create table "Bestell Details" ("Bestell-Nr" int8 not null references "Bestellungen" on delete cascade,
  "Artikel-Nr" int2 not null, "Preis je Stück" numeric(12, 4) not null check ("Preis je Stück" >= 0),
  "Menge" int2 not null default 1, "Rabatt (%)" real not null default 0,
  primary key ("Bestell-Nr", "Artikel-Nr"));
create table "Personal" (id uuid primary key default gen_random_uuid(), account_id uuid not null,
  "Nachname" text not null, "Chef" uuid references "Personal" on delete set null,
  geboren date, "Arbeitszeit" tstzrange, sprachen text[] not null default '{}');
create table "Dokumente" (id int4 primary key, account_id uuid not null, "Titel" text not null);
create table "Rechnungen" (betrag numeric(12, 2), primary key (id)) inherits ("Dokumente");
insert into "Länder" values ('CH', 'Schweiz'), ('DE', 'Deutschland'), ('ÖS', 'Österreich');
insert into "Kunden" select 'K' || n, a::uuid, 'Firma ' || n || z, 'Gässchen ' || n, '80' || n || ' Zürich',
  decode('00ff', 'hex'), jsonb_build_object('n', n, 'art', 'groß')
from generate_series(1, 9) n,
  (values ('11111111-1111-1111-1111-111111111111', ''), ('22222222-2222-2222-2222-222222222222', ' AG')) v (a, z);
insert into "Bestellungen" (account_id, kunde, "Land", "Bestellt am", "Fracht")
select account_id, "Kunden-Nr", case when n % 2 = 0 then 'CH' else 'ÖS' end, date '2026-01-30' + n, n * 2.5::numeric::money
from "Kunden", generate_series(1, 2) n;
insert into "Bestell Details" select "Bestell-Nr", n, n * 3.33, n, 0.25 from "Bestellungen", generate_series(1, 3) n;
insert into "Personal" (account_id, "Nachname", geboren, "Arbeitszeit", sprachen)
select account_id, 'Müller ' || "Kunden-Nr", '1980-02-29', '[2026-01-01 08:00Z,2026-01-01 17:00Z)', '{de,fr}' from "Kunden";
insert into "Dokumente" select row_number() over (), account_id, 'Dok ' || "Firma" from "Kunden";
insert into "Rechnungen" select 100 + row_number() over (), account_id, 'Rechnung ' || "Firma", 12.50 from "Kunden";`,
  environment: { ROWGATE_TENANT_COLUMN: "account_id" },
  policy: {
    tables: {
      "Kunden": {
        columns: {
          "Kunden-Nr": { name: "no" },
          "Straße": { name: "street" },
          "PLZ Ort": { name: "place" },
        },
      },
      "Länder": { name: "countries", shared: true, columns: { 'Name "kurz"': { name: "short" } } },
      "Bestellungen": {
        columns: {
          "Bestell-Nr": { name: "no" },
          "Bestellt am": { name: "ordered_on" },
          "geändert am": { name: "changed_at" },
        },
      },
      "Bestell Details": {
        name: "order_details",
        tenant_via: { columns: ["Bestell-Nr"], table: "Bestellungen" },
        columns: {
          "Bestell-Nr": { name: "order_no" },
          "Artikel-Nr": { name: "article_no" },
          "Preis je Stück": { name: "price" },
          "Rabatt (%)": { name: "discount" },
        },
      },
    },
  },
  tenants: ["11111111-1111-1111-1111-111111111111", "22222222-2222-2222-2222-222222222222"],
  rows: {
    Kunden: `"Kunden" t where t.account_id::text = $1`,
    countries: `"Länder" t where $1 <> ''`,
    Bestellungen: `"Bestellungen" t where t.account_id::text = $1`,
    order_details:
      `"Bestell Details" t join "Bestellungen" b using ("Bestell-Nr") where b.account_id::text = $1`,
    Personal: `"Personal" t where t.account_id::text = $1`,
    Dokumente: `"Dokumente" t where t.account_id::text = $1`,
    Rechnungen: `"Rechnungen" t where t.account_id::text = $1`,
  },
  followed: "Bestellungen",
  left: [],
};
