import { assertEquals } from "@std/assert";
import { before, it } from "@std/testing/bdd";
import {
  applyChanges,
  awaitFeeds,
  type ChangesBody,
  type Copy,
  enableFeeds,
} from "../support/feeds.ts";
import { assertOk, assertRejected } from "./assert_response.ts";
import { describeService, type SendOptions } from "./describe_service.ts";

describeService("Changes", ({ get, query, run, service, single }) => {
  before(async () => {
    const tables = ["deals", "order_lines", "measurements", "countries"];
    await enableFeeds(service(), tables);
    await awaitFeeds(service(), tables);
  });

  const ask = async (table: string, search: string, options?: SendOptions) =>
    assertOk(
      await get(`/integration/tables/${table}/changes${search}`, options),
    ) as unknown as ChangesBody;

  /** Follows until there is no more. */
  async function follow(table: string, search: string, from?: string): Promise<[Copy, string]> {
    const copy: Copy = new Map();
    let cursor = from;
    for (;;) {
      const since = cursor === undefined ? "" : `&since=${cursor}`;
      const body = await ask(table, `?${search}${since}`);
      applyChanges(copy, body.changes);
      cursor = body.cursor;
      if (!body.more) return [copy, cursor];
    }
  }

  it("begins with every row, in pages, in the format of Query Records [CH8] [CH5]", async () => {
    const [copy] = await follow("deals", "limit=7");
    const body = { per_page: 200, sort: [{ field: "fid", direction: "asc" }] };
    const { body: { records } } = await query("deals", body);
    assertEquals([...copy.values()], records as Record<string, unknown>[]);
    assertEquals([...copy.keys()][0], '{"fid":1}');
  });

  it("continues with changes after the last row [CH5]", async () => {
    const first = await ask("deals", "?limit=1000");
    assertEquals([first.changes.length, first.more], [60, false]);
    await single("deals", { filters: { fid: 3 }, fields: { title: "third" } });
    await run("delete from deals where fid in (4, 1004)");
    const next = await ask("deals", `?since=${first.cursor}&fields=title,fid`);
    assertEquals(next.changes, [
      { type: "upsert", key: { fid: 3 }, record: { title: "third", fid: 3 } },
      { type: "delete", key: { fid: 4 }, record: null },
    ]);
    assertEquals(next.more, false);
  });

  it("gives pages of changes with every kind of key [CH8]", async () => {
    for (const table of ["order_lines", "measurements", "countries"]) {
      const [copy, cursor] = await follow(table, "limit=9");
      if (table === "order_lines") await run("update order_lines set quantity = quantity + 1");
      if (table === "measurements") {
        await run("update measurements set reading = 1 where id % 3 = 0");
      }
      if (table === "countries") await run("update countries set population = 5");
      for (const [key, record] of (await follow(table, "limit=9", cursor))[0]) {
        copy.set(key, record);
      }
      const { body: { records } } = await query(table, { per_page: 200 });
      const all = records as Record<string, unknown>[];
      const [again] = await follow(table, "limit=1000");
      assertEquals(again.size, copy.size);
      for (const [key, record] of again) assertEquals(copy.get(key), record);
      assertEquals(all.length > 0, true);
    }
  });

  it("rejects a cursor that does not belong to the table [CH11] [FD2]", async () => {
    const { cursor } = await ask("deals", "?since=now");
    const places = [0, 3, 30, cursor.length - 1];
    const changed = places.map((place) =>
      cursor.slice(0, place) + (cursor[place] === "b" ? "c" : "b") + cursor.slice(place + 1)
    );
    const others = ["x", `${cursor}A`, cursor.slice(0, -4), "now2", "", "x".repeat(8000)];
    for (const since of [...changed, ...others]) {
      const error = assertRejected(
        await get(`/integration/tables/deals/changes?since=${since}`),
        400,
        "expected start, now, or a cursor that was given for this table",
      );
      assertEquals(error.startsWith("since: "), true);
    }
    const token = service().tokens.b!;
    assertRejected(
      await get(`/integration/tables/deals/changes?since=${cursor}`, { token }),
      400,
      "since",
    );
    const at = `/integration/tables/order_lines/changes?since=${cursor}`;
    assertRejected(await get(at), 400, "since");
  });

  it("rejects parameters that are unknown, given twice or wrong [CH6] [CH7] [FD1]", async () => {
    for (
      const [search, ...texts] of [
        ["sinc=now", 'sinc: "sinc" is not a parameter', 'did you mean "since"'],
        ["limit=0", 'limit: "0"', "from 1 to 1000"],
        ["limit=1001", "limit"],
        ["limit=1e2", "limit"],
        ["limit=", "limit"],
        ["limit=5&limit=6", "limit: It is given more than once"],
        ["wait=61", 'wait: "61"', "from 0 to 60"],
        ["wait=-1", "wait"],
        ["fields=fid,nope", 'fields: Unknown column "nope"'],
        ["fields=a;b", "fields"],
        ["fields=secret_score", "fields: Unknown column"],
        ["limit=0&wait=99&x=1", "limit", "wait", '"x"'],
      ] as const
    ) {
      assertRejected(await get(`/integration/tables/deals/changes?${search}`), 400, ...texts);
    }
  });

  it("is for tables that have a feed, and tokens that may read them [CH3] [CH4] [FD3]", async () => {
    const path = "/integration/tables/everything/changes";
    assertRejected(await get(path), 404, '"everything" has no changes feed', "the operator can");
    const { tokens } = service();
    const deals = "/integration/tables/deals/changes";
    assertRejected(await get(deals, { token: tokens.update }), 403, "query");
    const other = "/integration/tables/countries/changes";
    assertRejected(await get(other, { token: tokens.deals }), 404, "was not found");
    const { body: { tables } } = await get("/integration/tables");
    const followed = (tables as { name: string; changes: boolean }[]).filter(({ changes }) =>
      changes
    );
    assertEquals(followed.map(({ name }) => name).sort(), [
      "countries",
      "deals",
      "measurements",
      "order_lines",
    ]);
  });

  it("gives wide numbers as strings, in keys and records [CH8]", async () => {
    const headers = { accept: "application/json;IEEE754Compatible=true" };
    const { changes } = await ask("deals", "?limit=1&fields=fid,amount", { headers });
    assertEquals(typeof changes[0]!.key["fid"], "string");
    assertEquals(changes[0]!.record!["fid"], changes[0]!.key["fid"]);
  });

  it("returns every one of many changes, in pages of any size, each key once [CH8] [CH10]", async () => {
    const [copy, cursor] = await follow("deals", "limit=1000");
    await run("update deals set title = title || '.' where tenant_id = 1");
    await run("update deals set title = title || '.' where tenant_id = 1 and fid % 2 = 0");
    for (const limit of [1, 7, 59, 200]) {
      const [changed] = await follow("deals", `limit=${limit}`, cursor);
      assertEquals(changed.size, copy.size);
      const { body: { records } } = await query("deals", { per_page: 200 });
      const titles = (records as { fid: number; title: string }[]).map((
        { fid, title },
      ) => [fid, title]);
      const found = [...changed.values()].map(({ fid, title }) => [fid, title]);
      const byKey = (a: unknown[], b: unknown[]) => Number(a[0]) - Number(b[0]);
      assertEquals(found.sort(byKey), titles.sort(byKey) as unknown[][]);
    }
  });

  it("serves no other tenant [CH10]", async () => {
    const [copy] = await follow("deals", "limit=1000");
    for (const record of copy.values()) assertEquals(record["tenant_id"], 1);
    const { cursor } = await ask("deals", "?since=now");
    await run("update deals set title = title || '' where tenant_id = 2");
    assertEquals((await ask("deals", `?since=${cursor}`)).changes, []);
  });
});
