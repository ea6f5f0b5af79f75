import { assert, assertEquals } from "@std/assert";
import { afterAll, beforeAll, describe, it } from "@std/testing/bdd";
import type { Sql } from "../../src/database/postgres/driver.ts";
import {
  type Changes,
  createClient,
  type Place,
  type PollOptions,
} from "../../src/client/client.ts";
import { createTestService, type TestService } from "../support/service.ts";

type Row = { readonly [column: string]: unknown };

describe("the client and a service", () => {
  let service: TestService;
  let admin: Sql;

  beforeAll(async () => {
    service = await createTestService("real");
    ({ admin } = service.database);
    await admin`create table ticks (tenant_id int4 not null, a int4, b text,
      changed_at timestamptz, primary key (a, b))`;
    await admin`create table keyless (tenant_id int4 not null, n int4)`;
    await admin`insert into keyless select 1, n from generate_series(1, 7) n`;
    await admin`create table wide (tenant_id int4 not null, id int8 primary key)`;
    await admin`insert into wide select 1, 9007199254740990 + n from generate_series(1, 6) n`;
    await admin`grant select, update on ticks, keyless, wide to rowgate_app`;
    await admin`grant insert on ticks to rowgate_app`;
    await service.catalogue.current();
  });
  afterAll(() => service.close());

  const open = (options: { readonly wideNumbers?: boolean } = {}) =>
    createClient({
      url: "http://127.0.0.1",
      token: service.tokens.a,
      fetch: async (url, init) => await service.app(new Request(url, init)),
      ...options,
    });
  const fill = async (rows: readonly (readonly [a: number, b: string, at: string | null])[]) => {
    await admin`truncate ticks`;
    for (const [a, b, at] of rows) {
      await admin`insert into ticks values (1, ${a}, ${b}, ${at}), (2, ${a}, ${`CANARY ${b}`}, ${at})`;
    }
  };
  /** Polls until this many rows have been yielded; returns their names and the last place. */
  async function take(
    count: number,
    options: Partial<PollOptions<string>>,
    work: (changes: Changes<Row>, index: number) => Promise<unknown> = async () => {},
  ) {
    const names: string[] = [];
    let place: Place | undefined;
    let index = 0;
    const request = { select: ["b"], per_page: 2 };
    const polled = open().poll("ticks", request, {
      by: "changed_at",
      everySeconds: 0.01,
      ...options,
    });
    for await (const changes of polled) {
      names.push(...changes.records.map(({ b }) => String(b)));
      place = JSON.parse(JSON.stringify(changes.place));
      await work(changes, index++);
      if (names.length >= count) break;
    }
    return { names, place };
  }

  it("reads all rows in one stream, and throws what is wrong with it [EX22]", async () => {
    const rows: Row[] = [];
    for await (const row of open().exportRows("keyless", { sort: [{ field: "n" }] })) {
      rows.push(row);
    }
    assertEquals(rows.map(({ n }) => n), [1, 2, 3, 4, 5, 6, 7]);
    const ids: unknown[] = [];
    for await (const { id } of open({ wideNumbers: true }).exportRows("wide")) ids.push(id);
    assertEquals(ids.sort()[5], "9007199254740996");
    for await (const _row of open().exportRows("keyless")) break;
    const wrong = await open().exportRows("keyless", { select: ["nope"] }).next()
      .then(() => undefined, (error) => error);
    assertEquals([wrong.name, wrong.status, wrong.path], ["RowgateError", 400, "select[0]"]);
    const cut = createClient({
      url: "http://127.0.0.1",
      token: service.tokens.a,
      fetch: () =>
        Promise.resolve(
          new Response(
            new ReadableStream({
              start(controller) {
                controller.enqueue(new TextEncoder().encode('{"n":1}\n{"n'));
              },
              pull: (controller) => controller.error(new Error("cut")),
            }),
          ),
        ),
    });
    const found: unknown[] = [];
    const error = await (async () => {
      for await (const row of cut.exportRows("keyless")) found.push(row);
    })().then(() => undefined, (thrown) => thrown);
    assertEquals([found, error?.name, error?.status], [[{ n: 1 }], "RowgateError", 0]);
  });

  it("reads token, tables and fields", async () => {
    const client = open();
    const [token, tables, fields] = await Promise.all([
      client.token(),
      client.tables(),
      client.fields("ticks"),
    ]);
    assert(token.success && tables.success && fields.success);
    assertEquals(token.token.tenant, "1");
    assertEquals(tables.tables.find(({ name }) => name === "ticks")?.primary_key, ["a", "b"]);
    assertEquals(fields.fields.map(({ name }) => name), ["tenant_id", "a", "b", "changed_at"]);
  });

  it("updates one row or several, and reports how many matched if not one", async () => {
    const client = open();
    const fields = { note: "client" };
    const none = await client.updateSingle("deals", { filters: { fid: -1 }, fields });
    assert(!none.success);
    assertEquals([none.error.status, none.error.matched], [404, 0]);
    const many = await client.updateSingle("deals", { filters: { closed: true }, fields });
    assert(!many.success);
    assertEquals([many.error.status, many.error.matched], [409, 30]);
    const one = await client.updateSingle("deals", { filters: { fid: 1 }, fields });
    assert(one.success);
    assertEquals([one.matched, one.updated, one.fields.note], [1, 1, "client"]);
    const tooMany = await client.updateBulk("deals", { filters: { closed: true }, fields }, {
      maxAffected: 29,
    });
    assert(!tooMany.success && tooMany.error.status === 409);
    const tried = await client.updateBulk("deals", { filters: { closed: true }, fields }, {
      rollback: true,
    });
    assert(tried.success && tried.updated > 20);
    const batch = await client.updateBatch("deals", [
      { filters: { fid: 2 }, fields: { note: "one" } },
      { filters: { fid: 2, note: "one" }, fields: { note: null } },
    ]);
    assert(batch.success);
    assertEquals(batch.results, [{ matched: 1, updated: 1 }, { matched: 1, updated: 1 }]);
    const left = await client.query("deals", {
      filters: { and: [{ field: "note", op: "eq", value: "client" }] },
    });
    assert(left.success && left.total === 1);
  });

  it("creates and upserts records, all or none or each by itself [CR1] [UP1] [OE1]", async () => {
    await fill([[1, "old", null]]);
    const token = await service.issue({ scopes: ["query", "update", "create"] });
    const client = createClient({
      url: "http://127.0.0.1",
      token,
      fetch: async (url, init) => await service.app(new Request(url, init)),
    });
    const created = await client.create("ticks", [{ a: 2, b: "new" }], { returning: true });
    assert(created.success);
    assertEquals([created.created, created.failed], [1, undefined]);
    const [first] = created.results;
    assert(first !== undefined && "key" in first && first.record?.["b"] === "new");
    const records = [{ a: 1, b: "old" }, { a: 3, b: "x" }, { a: "no number", b: "y" }];
    const refused = await client.upsert("ticks", ["a", "b"], records);
    assert(!refused.success && refused.error.status === 400);
    const upserted = await client.upsert("ticks", ["b", "a"], records, { continues: true });
    assert(upserted.success);
    assertEquals(
      upserted.results.map((each) => "outcome" in each ? each.outcome : each.status),
      ["unchanged", "created", 400],
    );
    assertEquals([upserted.created, upserted.unchanged, upserted.failed], [1, 1, 1]);
  });

  it("reads every row once by a key of two columns while rows come and go", async () => {
    await fill(Array.from({ length: 9 }, (_, n) => [n >> 1, `b${n}`, null]));
    const names: unknown[] = [];
    const request = {
      select: ["b"],
      per_page: 2,
      filters: { or: [{ field: "a", op: "gte", value: 1 }, { field: "a", op: "is_null" }] },
    };
    for await (const record of open().records("ticks", request)) {
      names.push(record.b);
      // The page before goes: a page by its number would skip what moves up.
      await admin`delete from ticks where b = ${String(record.b)}`;
      if (record.b === "b3") await admin`insert into ticks values (1, 0, 'late', null)`;
    }
    assertEquals(names, ["b2", "b3", "b4", "b5", "b6", "b7", "b8"]);
  });

  it("reads in a given order while rows come and go, each row once", async () => {
    await fill(Array.from({ length: 9 }, (_, n) => [n % 3, `b${n}`, null]));
    const names: unknown[] = [];
    const request = { sort: [{ field: "a", direction: "desc" as const }], per_page: 2 };
    for await (const record of open().records("ticks", request)) {
      names.push(record.b);
      if (names.length === 3) await admin`insert into ticks values (1, 2, 'b00', null)`;
      if (names.length === 5) await admin`delete from ticks where b = 'b1'`;
    }
    assertEquals(names, ["b2", "b5", "b8", "b1", "b4", "b7", "b0", "b3", "b6"]);
  });

  it("reads numbered pages in a given order, and reports a table without a key or an unknown one", async () => {
    const client = open();
    const pages: unknown[][] = [];
    const sort = [{ field: "n", direction: "desc" as const }];
    for await (const page of client.pages("keyless", { sort, per_page: 3 })) {
      pages.push(page.map(({ n }) => n));
    }
    assertEquals(pages, [[7, 6, 5], [4, 3, 2], [1]]);
    for (const [table, status] of [["keyless", 400], ["nowhere", 404]] as const) {
      const error = await client.pages(table).next().catch((error: unknown) => error);
      assertEquals((error as { status: number }).status, status);
    }
  });

  it("returns wide numbers with every digit", async () => {
    const page = await open({ wideNumbers: true }).query("deals", {
      select: ["fid", "amount", "external_no"],
      filters: { and: [{ field: "fid", op: "eq", value: 1 }] },
    });
    assert(page.success);
    assertEquals(page.records, [{ fid: "1", amount: "2345.6401", external_no: 1 }]);
  });

  it("reads each row once by a key wider than a double, even where it shows rounded", async () => {
    const ids: unknown[] = [];
    const pages = open({ wideNumbers: true }).records("wide", { per_page: 2 });
    for await (const { id } of pages) ids.push(id);
    assertEquals(ids, [1, 2, 3, 4, 5, 6].map((n) => String(9007199254740990n + BigInt(n))));
    const rounded = await Array.fromAsync(open().records("wide", { per_page: 2 }));
    assertEquals(rounded.map(({ id }) => id), ids.map(Number));
  });

  it("polls rows of the same time, each once, across pages", async () => {
    const same = "2026-01-01T00:00:00.123456Z";
    const names = ["a", "b", "c", "d", "e"];
    await fill([...names.map((b) => [1, b, same] as const), [0, "f", same], [9, "null", null]]);
    assertEquals((await take(6, {})).names, ["f", ...names]);
    assertEquals((await take(6, { overlapSeconds: 0 })).names, ["f", ...names]);
    assertEquals((await take(6, { overlapSeconds: 0.0005 })).names, ["f", ...names]);
  });

  it("continues at a saved place, with the rows that changed meanwhile", async () => {
    await fill([1, 2, 3, 4].map((n) => [n, `b${n}`, `2026-01-01T00:00:0${n}Z`]));
    const first = await take(2, {});
    assertEquals(first.names, ["b1", "b2"]);
    await admin`update ticks set changed_at = '2026-01-02' where b = 'b1'`;
    const second = await take(3, { from: first.place! });
    assertEquals(second.names, ["b3", "b4", "b1"]);
    await admin`update ticks set changed_at = '2026-01-03' where b = 'b1'`;
    assertEquals((await take(1, { from: second.place! })).names, ["b1"]);
  });

  it("starts at a time", async () => {
    await fill([1, 2, 3].map((n) => [n, `b${n}`, `2026-01-01T00:00:0${n}Z`]));
    assertEquals((await take(2, { from: "2026-01-01T00:00:02Z" })).names, ["b2", "b3"]);
  });

  it("yields rows that change while it polls, each change once", async () => {
    await admin`truncate ticks`;
    await admin`insert into ticks select 1, n, 'b' || n, now() from generate_series(1, 5) n`;
    const { names } = await take(8, {}, async (_, index) => {
      if (index < 3) {
        await admin`update ticks set changed_at = clock_timestamp() where b = 'b' || ${
          index + 1
        }::int`;
      }
    });
    assertEquals(names.toSorted(), ["b1", "b1", "b2", "b2", "b3", "b3", "b4", "b5"]);
  });

  it("finds rows that a transaction commits late, also after the place was saved", async () => {
    await admin`truncate ticks`;
    await admin`insert into ticks values (1, 1, 'b1', clock_timestamp())`;
    const early = new Date(Date.now() - 5000).toISOString();
    const commitLate = (b: string) => admin`insert into ticks values (1, 2, ${b}, ${early})`;
    const { names, place } = await take(
      2,
      {},
      (_, index) => index === 0 ? commitLate("late") : Promise.resolve(),
    );
    assertEquals(names, ["b1", "late"]);
    await commitLate("later");
    assertEquals((await take(1, { from: place! })).names, ["later"]);
  });

  it("does not hang at a time in the future", async () => {
    await admin`truncate ticks`;
    await admin`insert into ticks values (1, 1, 'far', 'infinity'), (1, 2, 'soon', '2999-01-01')`;
    const { names } = await take(3, {}, async (_, index) => {
      if (index === 0) await admin`insert into ticks values (1, 3, 'now', clock_timestamp())`;
    });
    assertEquals(names, ["soon", "far", "now"]);
  });

  it("keeps trying when the service is unavailable, reports it, and ends with the signal", async () => {
    await fill([[1, "b1", "2026-01-01"]]);
    const controller = new AbortController();
    const statuses: number[] = [];
    let failures = 2;
    const client = createClient({
      url: "http://127.0.0.1",
      token: service.tokens.a,
      retries: 0,
      fetch: async (url, init) => {
        if (failures-- > 0) throw new TypeError("unavailable");
        return await service.app(new Request(url, init));
      },
    });
    const names: unknown[] = [];
    const polled = client.poll("ticks", {}, {
      by: "changed_at",
      everySeconds: 0.01,
      signal: controller.signal,
      onError: ({ status }) => statuses.push(status),
    });
    for await (const { records } of polled) {
      names.push(...records.map(({ b }) => b));
      setTimeout(() => controller.abort(), 50);
    }
    assertEquals([names, statuses], [["b1"], [0, 0]]);
    const error = await client.poll("ticks", {}, { by: "nothing" }).next()
      .catch((error: unknown) => error);
    assertEquals((error as { status: number }).status, 400);
  });
});
