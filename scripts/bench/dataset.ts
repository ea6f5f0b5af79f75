import type { Sql } from "../../src/database/postgres/driver.ts";

/** The tenants of the requests: from 150,000 rows to 17,000. */
export const TENANTS: readonly number[] = [1, 2, 3, 4, 5, 6, 7, 8, 10, 12];

/** How many rows there are, and how the tenants share them. */
export interface Size {
  readonly rows: number;
  readonly tenants: number;
  /**
   * Skewed: tenant k holds ln((k+1)/k) of the rows, the largest of 100 has 15 %, the smallest 0.2 %.
   * Even: all the same. Powers: tenant k holds 10^(k+2) rows, and `rows` is their sum.
   */
  readonly spread: keyof typeof SPREADS;
}

/** SQL that gives a row's tenant from its number and hashes; `@` is the number of tenants. */
const SPREADS = {
  skewed: "least(@, floor(exp(part * ln((@ + 1)::float8)))::int8)",
  even: "1 + mix / 1000003 % @",
  powers: "ceil(log(row * 9 / 1000.0::float8 + 1))::int8",
};

/** The benchmark's table: 1,000,000 rows of 100 tenants. */
export const SIZE: Size = { rows: 1_000_000, tenants: 100, spread: "skewed" };

/**
 * Gives the statements that make `contacts`. Everything is computed from the row's number, so two
 * machines have the same rows. Tenants are mixed on the disk, as in a table that grew over years.
 */
export function printDataset({ rows, tenants, spread }: Size): string[] {
  return [
    `create table contacts (
      tenant_id int8 not null, id int8 not null, name text not null, email text not null,
      company text not null, city text not null, status text not null, score int4 not null,
      visits int4 not null, list_id int4 not null, notes text not null,
      created_at timestamptz not null
    ) with (fillfactor = 90)`,
    `insert into contacts
    select tenant, id, 'Contact ' || tenant || '-' || id,
      'contact.' || tenant || '.' || id || '@example.org',
      'Company ' || mix % 5000,
      (array['Aachen','Bergen','Cadiz','Delft','Evora','Faro','Gent','Halle','Imola','Jena'])[1 + mix / 5000 % 10],
      (array['active','passive','invited','blocked','left'])[1 + mix / 50000 % 5],
      mix / 250000 % 100, 0, id / 100,
      repeat(md5(row::text) || ' ', 3) || 'remembered of the last call',
      timestamptz '2020-01-01 00:00:00+00' + row * interval '2 minutes'
    from (
      select row, tenant, mix, row_number() over (partition by tenant order by row) as id
      from (
        select row, mix, ${SPREADS[spread].replaceAll("@", String(tenants))} as tenant
        from (
          select row, hashint8extended(row, 7) & 9007199254740991 as mix,
            (hashint8(row)::int8 + 2147483648) / 4294967296.0::float8 as part
          from generate_series(1, ${rows}) row
        ) hashed
      ) spread
    ) numbered
    order by ${spread === "powers" ? "mix" : "row"}`,
    `alter table contacts add primary key (tenant_id, id)`,
    `create index contacts_created on contacts (tenant_id, created_at)`,
    `create index contacts_list on contacts (tenant_id, list_id)`,
    `create index contacts_email on contacts (tenant_id, email)`,
  ];
}

/** Makes the data, in a database of its own that is copied for each run. */
export async function fillDatabase(sql: Sql, size: Size): Promise<void> {
  for (const statement of printDataset(size)) await sql.unsafe(statement);
  // Otherwise the first readers would set hint bits, the visibility map and statistics.
  await sql.unsafe("vacuum (freeze, analyze) contacts");
  await sql.unsafe("checkpoint");
}
