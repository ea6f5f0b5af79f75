import type { Sql } from "../../src/postgres/driver.ts";
import { ORACLE_COLUMNS } from "./oracle_columns.ts";
import type { OracleRow } from "./oracle.ts";

/** Name of the table that rows of the oracle are put into. */
export const ORACLE_TABLE = "oracle_rows";

const TYPED_COLUMNS = ORACLE_COLUMNS.map(({ name, type }) => `${name} ${type}`).join(", ");

/**
 * Makes the oracle's table and the rights of the serving role on it. Beside the oracle's columns it has
 * some that are only written: with a length, a scale, a precision, a document, an array.
 */
export async function createOracleTable(admin: Sql): Promise<void> {
  await admin.unsafe("create type oracle_colour as enum ('red', 'green', 'blue')");
  await admin.unsafe(`create table ${ORACLE_TABLE} (
    bucket int2 not null, id int4 not null, tenant_id int4 not null, ${TYPED_COLUMNS},
    short varchar(5), padded char(4), cents numeric(10, 2), second timestamptz(0),
    doc jsonb, raw json, tags text[], marker text, primary key (bucket, id))`);
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
