import type { Cluster } from "./cluster.ts";

/** One shape of data: how the tenants share the rows, and how the columns hang together. */
export interface GridData {
  /** Also the name of its table. */
  readonly name: string;
  readonly description: string;
  /** SQL of a column from the row's number `n` and its hash `mix`, where it is not the usual one. */
  readonly columns: Partial<typeof USUAL>;
}

/** Ten tenants of 100,000 rows; a thousandth is `rare`, a hundredth `open`. */
const USUAL = {
  tenant: "1 + mix / 1000003 % 10",
  modified: "timestamptz '2020-01-01 00:00:00+00' + n * interval '1 minute'",
  status:
    "case when mix % 1000 = 0 then 'rare' when mix % 100 = 1 then 'open' else 'common' || mix % 4 end",
  owner: "mix / 1000 % 500",
  amount: "mix / 500000 % 10000",
};

const ONE_LARGE = "case when mix / 1000003 % 10 < 9 then 1 else 2 + mix / 10000019 % 40 end";

/** The columns of the grid. */
export const GRID_DATA: readonly GridData[] = [
  { name: "even", description: "ten tenants of 100,000 rows, columns independent", columns: {} },
  {
    name: "one_large",
    description: "one tenant has 90 % of the rows",
    columns: { tenant: ONE_LARGE },
  },
  {
    name: "correlated",
    description: "the same; owner and amount follow time, status follows owner",
    columns: {
      tenant: ONE_LARGE,
      owner: "n / 2000",
      amount: "n / 100",
      status:
        "case when n / 1000 = 0 then 'rare' when n / 10000 = 1 then 'open' else 'common' || n / 2000 % 4 end",
    },
  },
  {
    name: "one_time",
    description: "the same tenants; all rows have the same modification time",
    columns: { tenant: ONE_LARGE, modified: "timestamptz '2021-01-01 00:00:00+00'" },
  },
  {
    name: "newest_match",
    description: "the same tenants; the newest rows are those that are rare or open",
    columns: {
      tenant: ONE_LARGE,
      status:
        "case when n > 999000 then 'rare' when n > 990000 then 'open' else 'common' || mix % 4 end",
    },
  },
];

const ROWS = 1_000_000;

/** Gives the statements that make the table of one shape of data. */
function printGridData({ name, columns }: GridData): string[] {
  const { tenant, modified, status, owner, amount } = { ...USUAL, ...columns };
  return [
    `create table ${name} (
      tenant_id int8 not null, id int8 not null, name text not null, email text not null,
      status text not null, owner_id int8 not null, amount int8 not null,
      modified_at timestamptz not null, archived_at timestamptz, note text not null
    )`,
    `insert into ${name}
    select ${tenant}, n, 'Contact ' || mix % 1000000, 'contact.' || n || '@example.org',
      ${status}, ${owner}, ${amount}, ${modified},
      case when mix / 7 % 1000 = 0 then timestamptz '2024-01-01 00:00:00+00' + n * interval '1 second' end,
      md5(n::text)
    from (
      select n, hashint8extended(n, 7) & 9007199254740991 as mix from generate_series(1, ${ROWS}) n
    ) numbered
    order by n`,
    `alter table ${name} add primary key (tenant_id, id)`,
    `create index on ${name} (tenant_id, modified_at)`,
    `create index on ${name} (tenant_id, status)`,
    `create index on ${name} (tenant_id, owner_id)`,
    `create index on ${name} (tenant_id, email text_pattern_ops)`,
    `create index on ${name} (tenant_id, archived_at)`,
    `grant select on ${name} to app`,
  ];
}

/** Makes the database of the grid once, and gives its name, which is a digest of the data. */
export async function makeGridDatabase({ connect }: Cluster): Promise<string> {
  const text = new TextEncoder().encode(GRID_DATA.flatMap(printGridData).join(";"));
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", text));
  const name = `grid_${digest.slice(0, 6).toHex()}`;
  const server = connect("postgres");
  try {
    if ((await server`select from pg_database where datname = ${name}`).length > 0) return name;
    if ((await server`select from pg_roles where rolname = 'app'`).length === 0) {
      await server.unsafe("create role app login password 'bench'");
    }
    const making = `${name}_making`;
    await server.unsafe(`drop database if exists ${making} with (force)`);
    await server.unsafe(`create database ${making}`);
    const own = connect(making);
    try {
      for (const data of GRID_DATA) {
        console.log(`making ${data.name}: ${data.description}`);
        for (const statement of printGridData(data)) await own.unsafe(statement);
      }
      await own.unsafe("vacuum (freeze, analyze)");
    } finally {
      await own.end();
    }
    await server.unsafe(`alter database ${making} rename to ${name}`);
    await server.unsafe("checkpoint");
    return name;
  } finally {
    await server.end();
  }
}
