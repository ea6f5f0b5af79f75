import { assertEquals } from "@std/assert";
import { after, before, describe, it } from "@std/testing/bdd";
import { readFile } from "node:fs/promises";
import { ACCESS } from "../../support/access.ts";
import { findNext, readPages } from "../../support/read_pages.ts";
import { createTestService, type TestService } from "../../support/service.ts";
import { openSecondInstance } from "./second_instance.ts";

/** Orders that are read in one zone and in several, with NULLs, by an index and without. */
const QUERIES: readonly (readonly [table: string, body: Readonly<Record<string, unknown>>])[] = [
  ["deals", { per_page: 7 }],
  ["deals", { sort: [{ field: "modified_at", direction: "desc" }], per_page: 7 }],
  ["deals", { sort: [{ field: "amount" }], select: ["title"], per_page: 11 }],
  ["deals", { sort: [{ field: "amount", direction: "desc" }, { field: "owner" }], per_page: 3 }],
  ["order_lines", { sort: [{ field: "price", direction: "desc" }], per_page: 9 }],
  ["measurements", { sort: [{ field: "reading" }], per_page: 50 }],
  ["countries", { sort: [{ field: "population" }], per_page: 2 }],
];

describe("page tokens with row level security and the least rights", () => {
  const SERVICES: readonly {
    readonly environment: Record<string, string>;
    readonly rights: readonly string[];
  }[] = [
    { environment: {}, rights: [] },
    {
      environment: { ROWGATE_TENANT_SETTING: "app.tenant_id" },
      rights: ["access_rls.sql", "access_least.sql"],
    },
    {
      environment: { ROWGATE_TENANT_SETTING: "app.tenant_id", ROWGATE_PREPARE: "off" },
      rights: ["access_rls.sql"],
    },
  ];
  const services: TestService[] = [];

  before(async () => {
    for (const { environment, rights } of SERVICES) {
      const service = await createTestService("real", { environment });
      services.push(service);
      for (const file of rights.filter((file) => file !== `access_${ACCESS}.sql`)) {
        const text = await readFile(new URL(`../../support/${file}`, import.meta.url), "utf8");
        await service.database.admin.unsafe(text);
      }
    }
  });
  after(() => Promise.all(services.map((service) => service.close())));

  for (const [table, body] of QUERIES) {
    it(`give the same rows: ${table} ${JSON.stringify(body)} [Q94] [TE19] [R22]`, async () => {
      const [plain, ...others] = await Promise.all(
        services.map(({ send }) => readPages(send, { table, body })),
      );
      assertEquals(new Set(plain!.map((row) => JSON.stringify(row))).size, plain!.length);
      for (const rows of others) assertEquals(strip(rows), strip(plain!));
    });
  }
});

/** Each database was filled at a time of its own. */
function strip(rows: readonly Record<string, unknown>[]): unknown {
  return rows.map(({ modified_at: _, ...row }) => row);
}

describe("page tokens on several instances", () => {
  let service: TestService;
  before(async () => {
    service = await createTestService("real");
  });
  after(() => service?.close());

  it("are valid on every instance, also on one that starts later [PT8]", async () => {
    const body = { sort: [{ field: "title" }], select: ["fid"], per_page: 10 };
    const options = { body, headers: { prefer: "page-token" } };
    const keys: unknown[] = [];
    let path: string | undefined = "/integration/tables/deals/query";
    for (let page = 1; path !== undefined; page++) {
      const other = page % 2 === 0
        ? openSecondInstance(service.database, service.tokens.a)
        : undefined;
      const response = await (other ?? service).send("POST", path, options);
      await other?.close();
      assertEquals(response.status, 200, response.text);
      keys.push(...(response.body["records"] as { fid: unknown }[]).map(({ fid }) => fid));
      path = findNext(response);
    }
    const whole = await service.send("POST", "/integration/tables/deals/query", {
      body: { ...body, per_page: 60 },
    });
    assertEquals(keys, (whole.body["records"] as { fid: unknown }[]).map(({ fid }) => fid));
  });

  it("stay valid after their secret is replaced, until its row is deleted [PT4]", async () => {
    const { admin } = service.database;
    const path = "/integration/tables/deals/query";
    const options = { body: { per_page: 5 }, headers: { prefer: "page-token" } };
    const old = findNext(await service.send("POST", path, options))!;
    await admin.unsafe(`insert into rowgate.secrets (secret)
      select decode(replace(concat(gen_random_uuid(), gen_random_uuid()), '-', ''), 'hex')`);
    const other = openSecondInstance(service.database, service.tokens.a);
    const fresh = findNext(await other.send("POST", path, options))!;
    assertEquals((await other.send("POST", old, options)).status, 200);
    // The first instance does not know the new secret yet, and looks for it.
    await new Promise((resolve) => setTimeout(resolve, 1100));
    assertEquals((await service.send("POST", fresh, options)).status, 200);
    await other.close();
    await admin`delete from rowgate.secrets where number = 1`;
    const third = openSecondInstance(service.database, service.tokens.a);
    assertEquals((await third.send("POST", old, options)).status, 400);
    assertEquals((await third.send("POST", fresh, options)).status, 200);
    await third.close();
  });
});

describe("page tokens under load", () => {
  let service: TestService;
  before(async () => {
    service = await createTestService("real");
    const { admin } = service.database;
    await admin.unsafe(`create table visits (id int8 primary key, tenant_id int4 not null,
        kind text, at timestamptz, stays bool not null);
      insert into visits select n, 1 + n % 2, nullif('k' || n % 5, 'k0'),
        timestamptz '2026-01-01Z' + n % 40 * interval '1 hour', n % 3 = 0
        from generate_series(1, 1200) n;
      create index on visits (tenant_id, kind);
      create index on visits (tenant_id, at, id);
      grant select on visits to rowgate_app`);
    await service.catalogue.current();
  });
  after(() => service?.close());

  for (
    const sort of [
      [],
      [{ field: "kind" }],
      [{ field: "kind", direction: "desc" }],
      [{ field: "at", direction: "desc" }],
      [{ field: "at" }, { field: "kind", direction: "desc" }],
      [{ field: "stays" }, { field: "at", direction: "desc" }],
    ]
  ) {
    it(`return each row that stays exactly once, sorted by ${JSON.stringify(sort)} [Q96]`, async () => {
      const { admin } = service.database;
      let isReading = true;
      const writing = Promise.all([0, 1].map(async (writer) => {
        for (let n = 0; isReading; n++) {
          const id = 100_000 + (n * 2 + writer) % 400;
          await admin`insert into visits values (${String(id)}::int8, 1, ${"k" + n % 7},
            timestamptz '2026-01-01Z' + ${String(n % 50)}::int * interval '1 hour', false)
            on conflict (id) do update set kind = excluded.kind, at = excluded.at`;
          const other = String(1 + n * 7 % 1200);
          await admin`update visits set kind = null, at = at + interval '3 hours'
            where id = ${other}::int8 and not stays`;
          await admin`delete from visits where id = ${String(100_000 + n * 3 % 400)}::int8`;
        }
      }));
      const body = { sort, select: ["id", "stays"], per_page: 13 };
      const rows = await readPages(service.send, { table: "visits", body });
      isReading = false;
      await writing;
      const kept = rows.filter(({ stays }) => stays).map(({ id }) => id as number);
      const [{ count }] = await admin`select count(*)::int from visits
        where tenant_id = 1 and stays` as unknown as [{ count: number }];
      assertEquals([kept.length, new Set(kept).size], [count, count]);
    });
  }
});
