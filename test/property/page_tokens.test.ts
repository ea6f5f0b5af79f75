import { assert, assertEquals } from "@std/assert";
import { afterAll, beforeAll, describe, it } from "@std/testing/bdd";
import fc from "fast-check";
import type { Sql } from "../../src/database/postgres/driver.ts";
import {
  arbitraryGroup,
  arbitraryRows,
  arbitrarySort,
  sendFilter,
} from "../support/arbitraries.ts";
import { DATABASE_KINDS, type DatabaseKind } from "../support/database.ts";
import { type OracleRow, type OracleSort, pickRows, sortRows } from "../support/oracle.ts";
import { ORACLE_COLUMNS } from "../support/oracle_columns.ts";
import { loadOracleRows, ORACLE_TABLE } from "../support/oracle_table.ts";
import { findPooler, type Pooler, startPooler } from "../support/pooler.ts";
import type { ReceivedResponse } from "../support/service.ts";
import { checkLaw } from "./check_law.ts";
import {
  type NextPage,
  openOracle,
  type Oracle,
  type OracleOptions,
  recordsOf,
} from "./open_oracle.ts";

/** What is written to one row while a client reads. */
interface Write {
  readonly kind: "insert" | "update" | "delete";
  /** Which row it hits, of those that do not stay. */
  readonly at: number;
  /** Its new cells. */
  readonly row: OracleRow;
}

interface Reading {
  readonly rows: readonly OracleRow[];
  readonly sort: readonly OracleSort[];
  readonly per_page: number;
  readonly count: boolean;
  readonly writes: readonly (readonly Write[])[];
  /** True: pages are read while rows are written, not between. */
  readonly atOnce: boolean;
}

const nameOf = ({ bucket, id }: { readonly bucket: unknown; readonly id: unknown }) =>
  `${bucket} ${id}`;

/** Every third row stays as it is; the others may be written. */
const stays = ({ id }: { readonly id: number }) => id % 3 === 0;

function arbitraryWrites(): fc.Arbitrary<Write[]> {
  const write = fc.record({
    kind: fc.constantFrom<Write["kind"]>("insert", "update", "delete"),
    at: fc.nat({ max: 1000 }),
    row: arbitraryRows(1).map(([row]) => row).filter((row) => row !== undefined),
  });
  return fc.array(write, { maxLength: 6, size: "max" });
}

function arbitraryReading(): fc.Arbitrary<Reading> {
  return fc.record({
    rows: arbitraryRows(50),
    sort: arbitrarySort(),
    per_page: fc.integer({ min: 1, max: 12 }),
    count: fc.boolean(),
    writes: fc.array(arbitraryWrites(), { maxLength: 20, size: "max" }),
    atOnce: fc.boolean(),
  });
}

/** Reads page after page, and does something before each but the first. */
async function* readPages(
  oracle: Oracle,
  body: Record<string, unknown>,
  { count, beforeNext = async () => {} }: {
    readonly count: boolean;
    readonly beforeNext?: (page: number) => Promise<void>;
  },
): AsyncGenerator<ReceivedResponse> {
  const prefer = count ? "page-token" : "page-token, count=none";
  let address: "query" | NextPage = "query";
  for (let page = 1;; page++) {
    if (page > 1) await beforeNext(page);
    const response = await oracle.send(address, body, { prefer });
    const records = recordsOf(response);
    assertEquals(response.body["page"], page);
    yield response;
    const link = response.headers.get("link");
    if (link === null) return;
    assertEquals(records.length, body["per_page"]);
    address = `query?after=${/after=([\w-]+)/.exec(link)![1]!}`;
    assert(page < 1000, "no end");
  }
}

/** Indexes on some of the columns: their zones are read apart, those of the others are not. */
async function createIndexes(admin: Sql): Promise<void> {
  for (const { name } of ORACLE_COLUMNS.filter((_, at) => at % 2 === 0)) {
    await admin.unsafe(`create index on ${ORACLE_TABLE} (tenant_id, ${name})`);
  }
  await admin.unsafe(`create index on ${ORACLE_TABLE} (tenant_id, bucket, id)`);
}

async function apply(admin: Sql, writes: readonly Write[]): Promise<void> {
  for (const { kind, at, row } of writes) {
    if (kind === "insert") {
      const record = { ...row, tenant_id: row.tenant, ...row.cells, cells: undefined };
      await admin`insert into ${admin(ORACLE_TABLE)} select * from json_populate_record(
        null::${admin(ORACLE_TABLE)}, ${JSON.stringify(record)}::text::json)
        where ${row.id}::int % 3 <> 0 on conflict do nothing`;
      continue;
    }
    const hit = admin`(bucket, id) = (select bucket, id from ${admin(ORACLE_TABLE)}
      where id % 3 <> 0 order by bucket, id offset ${at % 20} limit 1)`;
    if (kind === "delete") await admin`delete from ${admin(ORACLE_TABLE)} where ${hit}`;
    else {
      const cells = JSON.stringify(row.cells);
      const names = ORACLE_COLUMNS.map(({ name }) => name);
      await admin`update ${admin(ORACLE_TABLE)} t set ${
        admin.unsafe(names.map((name) => `${name} = "$new".${name}`).join(", "))
      } from json_populate_record(null::${
        admin(ORACLE_TABLE)
      }, ${cells}::text::json) "$new" where t.id % 3 <> 0 and (t.bucket, t.id) = (
        select bucket, id from ${admin(ORACLE_TABLE)} where id % 3 <> 0
        order by bucket, id offset ${at % 20} limit 1)`;
    }
  }
}

/** Where the laws are checked, and how many cases of those there are elsewhere. */
interface Setup extends OracleOptions {
  readonly what: string;
  readonly kind: DatabaseKind;
  readonly share: number;
  /** True: behind a pooler, where one is installed. */
  readonly pooled?: true;
}

const SETUPS: readonly Setup[] = [
  ...DATABASE_KINDS.map((kind) => ({ what: kind, kind, share: 1 })),
  { what: "tenants by path", kind: "real", tenancy: "by path", share: 0.3 },
  {
    what: "without a key, with row level security, behind a pooler",
    kind: "real",
    keyless: true,
    secured: true,
    pooled: true,
    environment: { ROWGATE_PREPARE: "off" },
    share: 0.5,
  },
];

/** Without a key, the sort ends with what is unique. */
function sortOf(setup: Setup, sort: readonly OracleSort[]): readonly OracleSort[] {
  if (setup.keyless !== true) return sort;
  const rest = ["bucket", "id"].filter((name) => !sort.some(({ field }) => field === name));
  return [...sort, ...rest.map((field) => ({ field, direction: "asc" as const }))];
}

for (const setup of SETUPS) {
  const { kind, share } = setup;
  describe(`page tokens, ${setup.what}`, () => {
    let oracle: Oracle;
    let pooler: Pooler | undefined;

    async function route(url: string): Promise<string> {
      const program = await findPooler();
      if (program === undefined) {
        console.log("pgbouncer is not installed: nothing is tested behind it");
        return url;
      }
      pooler = await startPooler(program, url);
      return pooler.through(url);
    }

    beforeAll(async () => {
      oracle = await openOracle(kind, setup.pooled ? { ...setup, route } : setup);
      await createIndexes(oracle.admin);
      // The service learns of the indexes with its next reading of the catalogue.
      await oracle.admin.unsafe(`comment on table ${ORACLE_TABLE} is 'with indexes'`);
      await waitForIndexes(oracle);
    });
    afterAll(async () => {
      await oracle?.close();
      await pooler?.stop();
    });

    it("give the rows of a filter in order, each once, and a constant total [Q94] [Q99] [Q100]", async () => {
      const law = fc.asyncProperty(
        arbitraryReading(),
        fc.option(arbitraryGroup(), { nil: undefined }),
        async ({ rows, sort: any, per_page, count }, filter) => {
          const sort = sortOf(setup, any);
          await loadOracleRows(oracle.admin, rows);
          const filters = filter === undefined ? {} : { filters: sendFilter(filter) };
          const body = { ...filters, select: ["bucket", "id"], sort, per_page };
          const expected = sortRows(pickRows(rows, { tenant: 1, filter }), sort).map(nameOf);
          const seen: string[] = [];
          for await (const response of readPages(oracle, body, { count })) {
            assertEquals(response.body["total"], count ? expected.length : null);
            seen.push(...recordsOf(response).map((row) => nameOf(row as never)));
          }
          assertEquals(seen, expected);
        },
      );
      await checkLaw(law, { runs: share * (kind === "real" ? 60 : 25) });
    });

    it("give each row that stays once, in order, while others are written [Q96]", async () => {
      const law = fc.asyncProperty(arbitraryReading(), async (reading) => {
        const { rows, per_page, count, writes, atOnce } = reading;
        const sort = sortOf(setup, reading.sort);
        await loadOracleRows(oracle.admin, rows);
        const body = { select: ["bucket", "id"], sort, per_page };
        const seen: { bucket: number; id: number }[] = [];
        const writing: Promise<void>[] = [];
        const beforeNext = async (page: number) => {
          writing.push(apply(oracle.admin, writes[page - 2] ?? []));
          if (!atOnce) await writing.at(-1);
        };
        for await (const response of readPages(oracle, body, { count, beforeNext })) {
          seen.push(...recordsOf(response) as never[]);
        }
        await Promise.all(writing);
        const expected = sortRows(rows.filter((row) => row.tenant === 1 && stays(row)), sort);
        assertEquals(seen.filter(stays).map(nameOf), expected.map(nameOf));
      });
      await checkLaw(law, { runs: share * (kind === "real" ? 50 : 20) });
    });
  });
}

async function waitForIndexes(oracle: Oracle): Promise<void> {
  for (let tries = 0; tries < 100; tries++) {
    // A column that is not known makes the service read the catalogue again, once a second.
    await oracle.send("query", { select: ["not_a_column"] });
    const { body } = await oracle.send("query", { per_page: 1 });
    assertEquals(body["success"], true);
    if (tries > 12) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
