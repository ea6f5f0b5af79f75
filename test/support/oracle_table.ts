import type { Sql } from "../../src/database/postgres/driver.ts";
import { ORACLE_COLUMNS } from "./oracle_columns.ts";
import type { OracleRow } from "./oracle.ts";

/** Name of the table that rows of the oracle are put into. */
export const ORACLE_TABLE = "oracle_rows";

const TYPED_COLUMNS = ORACLE_COLUMNS.map(({ name, type }) => `${name} ${type}`).join(", ");

/** How the rows of the oracle's table say whose they are: by a column, or over two foreign keys. */
export const ORACLE_TENANCIES = ["by column", "by path"] as const;
export type OracleTenancy = (typeof ORACLE_TENANCIES)[number];

/** What a service needs to find the tenant over foreign keys: `tenant_id` is the number of a home then. */
export const ORACLE_PATH = {
  environment: { ROWGATE_TENANT_COLUMN: "owner" },
  policy: {
    tables: {
      [ORACLE_TABLE]: { tenant_via: { columns: ["tenant_id"], table: "oracle_homes" } },
      oracle_homes: { tenant_via: { columns: ["street"], table: "oracle_streets" } },
    },
  },
} as const;

/** Puts homes and streets behind the oracle's table: home 1 is tenant 1's, and so on. */
export async function belongToHomes(admin: Sql): Promise<void> {
  await admin.unsafe(`create table oracle_streets (id int4 primary key, owner int4 not null);
    create table oracle_homes (no int4 primary key, street int4 not null references oracle_streets);
    insert into oracle_streets select 100 + n, n from generate_series(1, 9) n;
    insert into oracle_homes select n, 100 + n from generate_series(1, 9) n;
    alter table ${ORACLE_TABLE} add foreign key (tenant_id) references oracle_homes;
    grant select, update on oracle_streets, oracle_homes to rowgate_app`);
}

/**
 * Makes the oracle's table and the rights of the serving role on it. Beside the oracle's columns it has
 * some that are only written: with a length, a scale, a precision, a document, an array. What identifies
 * a row is its primary key, or only unique.
 */
export async function createOracleTable(
  admin: Sql,
  identity: "primary key" | "unique" = "primary key",
): Promise<void> {
  await admin.unsafe("create type oracle_colour as enum ('red', 'green', 'blue')");
  await admin.unsafe(`create table ${ORACLE_TABLE} (
    bucket int2 not null, id int4 not null, tenant_id int4 not null, ${TYPED_COLUMNS},
    short varchar(5), padded char(4), cents numeric(10, 2), second timestamptz(0),
    doc jsonb, raw json, tags text[], marker text, ${identity} (bucket, id))`);
  await admin.unsafe(`do $$ begin
    create role rowgate_app login nosuperuser password 'rowgate_app';
    exception when duplicate_object or unique_violation then null; end $$`);
  await admin.unsafe("grant usage on schema public to rowgate_app");
  await admin.unsafe(`grant select, update on ${ORACLE_TABLE} to rowgate_app`);
}

/** Puts these rows, and no others, into the oracle's table. */
export async function loadOracleRows(admin: Sql, rows: readonly OracleRow[]): Promise<void> {
  const records = rows.map(({ bucket, id, tenant, cells }) => ({
    bucket,
    id,
    tenant_id: tenant,
    ...cells,
  }));
  await admin`delete from ${admin(ORACLE_TABLE)}`;
  await admin`insert into ${admin(ORACLE_TABLE)}
    select * from json_populate_recordset(null::${admin(ORACLE_TABLE)}, ${
    JSON.stringify(records)
  }::text::json)`;
}

/** Every row of the oracle's table as Postgres prints it, in key order. */
export async function dumpOracleRows(admin: Sql): Promise<string[]> {
  const rows = await admin<{ row: string }[]>`select "$t"::text as row
    from ${admin(ORACLE_TABLE)} as "$t" order by bucket, id`;
  return rows.map(({ row }) => row);
}
