import { assert, assertEquals, assertMatch, assertNotEquals } from "@std/assert";
import { before, it } from "@std/testing/bdd";
import { FIXTURE_POLICY } from "../support/fixture_policy.ts";
import { readPages } from "../support/read_pages.ts";
import type { ReceivedResponse } from "../support/service.ts";
import { waitUntil } from "../support/wait_until.ts";
import { assertRejectedAt, recordsOf, valuesOf } from "./assert_response.ts";
import { describeService, type SendOptions } from "./describe_service.ts";

/** A sort, as clients send it. */
type Sort = readonly { readonly field: string; readonly direction?: string }[];

const PREFER = { prefer: "page-token" };
const NO_COUNT = { prefer: "count=none, page-token" };

const POLICY = {
  tables: { ...FIXTURE_POLICY.tables, stamps: { primary_key: ["stream", "no"] } },
};

/** The address in the Link header; undefined on the last page. */
function nextOf(response: ReceivedResponse): string | undefined {
  const link = response.headers.get("link");
  if (link === null) return undefined;
  const found = /^<([^<>]+)>; rel="next"$/.exec(link);
  assert(found !== null, link);
  return found[1]!;
}

describeService("Query, page tokens", ({ kind, query, single, get, run, service }) => {
  before(() =>
    run(
      `create table stamps (tenant_id int4 not null, stream text not null, no int4 not null, note text);
      insert into stamps select t, 'S' || n % 3, n, 'note ' || n from generate_series(1, 2) t,
        generate_series(1, 20) n;
      grant select, update on stamps to public`,
    )
  );

  const at = (path: string, body: unknown, options: SendOptions = {}) =>
    service().send("POST", path, { body, ...options });

  /** Reads page after page by the Link header alone. */
  async function readAll(
    table: string,
    body: Record<string, unknown>,
    options: SendOptions = { headers: PREFER },
  ): Promise<ReceivedResponse[]> {
    const pages = [await query(table, body, options)];
    for (let next = nextOf(pages[0]!); next !== undefined; next = nextOf(pages.at(-1)!)) {
      pages.push(await at(next, body, options));
      assert(pages.length < 500, "no end");
    }
    return pages;
  }

  async function readNumbered(
    table: string,
    body: Record<string, unknown>,
    rows: number,
  ): Promise<string[]> {
    const found: string[] = [];
    for (let page = 1; found.length < rows; page++) {
      found.push(...printed(await query(table, { ...body, page })));
    }
    return found;
  }

  const printed = (response: ReceivedResponse) =>
    recordsOf(response).map((record) => JSON.stringify(record));

  it("links each page to the next one, and the last page has no link [Q93] [Q98] [Q99]", async () => {
    const body = { select: ["fid"], sort: [{ field: "fid" }], per_page: 25 };
    const pages = await readAll("deals", body);
    const shown = pages.map((page) => [
      page.body["page"],
      page.body["per_page"],
      page.body["total"],
      recordsOf(page).length,
      page.headers.get("preference-applied"),
      page.headers.has("link"),
    ]);
    assertEquals(shown, [
      [1, 25, 60, 25, "page-token", true],
      [2, 25, 60, 25, "page-token", true],
      [3, 25, 60, 10, "page-token", false],
    ]);
    assertMatch(nextOf(pages[0]!)!, /^\/integration\/tables\/deals\/query\?after=[A-Za-z0-9_-]+$/);
  });

  it("has no next page where the last one is full, and one page may be all [Q93]", async () => {
    for (const [per_page, count] of [[60, 1], [30, 2], [20, 3], [59, 2], [200, 1]] as const) {
      assertEquals((await readAll("deals", { per_page })).length, count, String(per_page));
    }
    const none = { filters: { or: [] } };
    assertEquals((await readAll("deals", none)).length, 1);
  });

  it("changes nothing where the preference is not asked for [Q93]", async () => {
    const response = await query("deals", { per_page: 5, sort: [{ field: "fid" }] });
    assertEquals(response.headers.get("link"), null);
    assertEquals(response.headers.get("preference-applied"), null);
    const other = await query("deals", { per_page: 5 }, { headers: { prefer: "page-token=x" } });
    assertEquals(other.headers.get("link"), null);
  });

  it("skips the count with count=none, and reads by the key without a sort [Q99] [Q94]", async () => {
    const pages = await readAll("deals", { select: ["fid"], per_page: 7 }, { headers: NO_COUNT });
    assertEquals(new Set(pages.map((page) => page.body["total"])), new Set([null]));
    const keys = pages.flatMap(recordsOf).map((record) => record["fid"] as number);
    assertEquals(keys, Array.from({ length: 60 }, (_, at) => at + 1));
    const applied = pages[0]!.headers.get("preference-applied")!.split(", ").sort();
    assertEquals(applied, ["count=none", "page-token"]);
  });

  it("continues without the preference, and with other columns and sizes [Q101] [Q97]", async () => {
    const sort = [{ field: "amount", direction: "desc" }];
    const first = await query("deals", { sort, select: ["fid"], per_page: 10 }, {
      headers: PREFER,
    });
    const second = await at(nextOf(first)!, { sort, select: ["title", "fid"], per_page: 20 });
    assertEquals([second.body["page"], second.body["per_page"]], [2, 20]);
    const third = await at(nextOf(second)!, { sort, select: ["fid"], per_page: 100 });
    const keys = [first, second, third].flatMap(recordsOf).map(({ fid }) => ({ fid }));
    const expected = await readNumbered("deals", { sort, select: ["fid"], per_page: 60 }, 60);
    assertEquals(keys.map((key) => JSON.stringify(key)), expected);
  });

  it("starts at any page of the body, and counts on from there [Q98]", async () => {
    const sort = [{ field: "title" }];
    const body = { sort, select: ["fid"], per_page: 10 };
    const fourth = await query("deals", { ...body, page: 4 }, { headers: PREFER });
    const fifth = await at(nextOf(fourth)!, body);
    assertEquals([fifth.body["page"], fifth.body["total"]], [5, 60]);
    const expected = await query("deals", { ...body, page: 5 });
    assertEquals(printed(fifth), printed(expected));
  });

  it("rejects a page number together with a page token at its path [Q98]", async () => {
    const next = nextOf(await query("deals", { per_page: 5 }, { headers: PREFER }))!;
    assertRejectedAt(await at(next, { per_page: 5, page: 2 }), "page");
    assertEquals((await at(next, { per_page: 5, page: 1 })).body["page"], 2);
  });

  it("orders as numbered pages do: directions mixed, ties, nulls [Q100] [Q94]", async () => {
    const sorts: Sort[] = [
      [{ field: "status" }],
      [{ field: "status", direction: "desc" }],
      [{ field: "status", direction: "desc" }, { field: "amount" }],
      [{ field: "stage" }, { field: "amount", direction: "desc" }],
      [{ field: "stage", direction: "desc" }, { field: "owner" }, {
        field: "code",
        direction: "desc",
      }],
      [{ field: "modified_at", direction: "desc" }],
      [{ field: "external_no" }, { field: "fid", direction: "desc" }],
      [{ field: "tenant_id", direction: "desc" }, { field: "closed" }],
    ];
    for (const sort of sorts) {
      const whole = await readNumbered("deals", { sort, select: ["fid"], per_page: 200 }, 60);
      for (const [per_page, headers] of [[1, NO_COUNT], [7, PREFER]] as const) {
        const body = { sort, select: ["fid"], per_page };
        const found = (await readAll("deals", body, { headers })).flatMap(printed);
        assertEquals(found, whole, JSON.stringify(sort));
      }
    }
  });

  it("continues after a value of every type that can be sorted [Q100]", async () => {
    const { body } = await service().send("GET", "/integration/tables/everything/fields");
    const fields = body["fields"] as { name: string; operators: string[] }[];
    const sortable = fields.filter(({ operators }) => operators.includes("gt"))
      .map(({ name }) => name);
    assert(sortable.length > 55, String(sortable.length));
    const tooLong = new Set<string>();
    for (const field of sortable) {
      for (const direction of ["asc", "desc"]) {
        const sort = [{ field, direction }];
        const all = await query("everything", { sort, select: ["id", field], per_page: 200 });
        const whole = valuesOf(all, "id");
        const values = valuesOf(all, field);
        // A page token with such a value would be longer than proxies take in a header. @see L21
        if (values.some((value) => JSON.stringify(value).length > 1000)) {
          tooLong.add(field);
          continue;
        }
        const nulls = values.filter((value) => value === null).length;
        // One page for each value. All NULLs but the first are one page: they say nothing new of the type.
        const ofValues = Array<number>(whole.length - nulls).fill(1);
        const ofNulls = [Math.min(nulls, 1), nulls - 1].filter((size) => size > 0);
        const sizes = direction === "asc" ? [...ofValues, ...ofNulls] : [...ofNulls, ...ofValues];
        const found: unknown[] = [];
        let next: string | undefined = "/integration/tables/everything/query";
        for (const per_page of sizes) {
          assert(next !== undefined, `${field} ${direction}`);
          const page = await at(next, { sort, select: ["id"], per_page }, { headers: NO_COUNT });
          found.push(...valuesOf(page, "id"));
          next = nextOf(page);
        }
        assertEquals([found, next], [whole, undefined], `${field} ${direction}`);
      }
    }
    assert(tooLong.size <= 2, [...tooLong].join());
  });

  it("works with composite keys, partitions, views of the policy and shared tables [Q94]", async () => {
    for (
      const [table, rows, sort] of [
        ["order_lines", 40, undefined],
        ["order_lines", 40, [{ field: "price", direction: "desc" }]],
        ["measurements", 260, [{ field: "reading" }, { field: "sensor", direction: "desc" }]],
        ["measurements", 260, undefined],
        ["countries", 5, [{ field: "population", direction: "desc" }]],
        ["bookings", 12, [{ field: "during" }]],
        ["MixedCase", 5, [{ field: "Value" }]],
      ] as const
    ) {
      const body = { ...(sort && { sort }), per_page: 3 };
      const found = (await readAll(table, body)).flatMap(printed);
      assertEquals([found.length, new Set(found).size], [rows, rows], table);
      if (sort === undefined) continue;
      assertEquals(found, await readNumbered(table, { sort, per_page: 200 }, rows), table);
    }
  });

  it("needs a sort by a unique column where a table has no key [Q95]", async () => {
    const response = await query("events_log", { sort: [{ field: "at" }] }, { headers: PREFER });
    assertRejectedAt(response, "sort");
    await run(`create table tickets (tenant_id int4 not null, code text not null, at int4,
        "hint" text, unique (tenant_id, code));
      insert into tickets select t, 'T' || t || n, n % 3 from generate_series(1, 2) t,
        generate_series(1, 20) n;
      create table loose (tenant_id int4 not null, code text unique, nick text);
      insert into loose select 1, case when n > 3 then 'L' || n end from generate_series(1, 9) n;
      create table half (tenant_id int4 not null, code text not null);
      create unique index on half (code) where code > 'a';
      grant select on tickets, loose, half to rowgate_app`);
    await waitFor("half");
    const rejected = await query("tickets", { sort: [{ field: "at" }] }, { headers: PREFER });
    assertRejectedAt(rejected, "sort");
    assertMatch(String(rejected.body["error"]), /has no primary key, .*: "code"$/);
    assertRejectedAt(await query("tickets", {}, { headers: PREFER }), "sort");
    const sort = [{ field: "at", direction: "desc" }, { field: "code" }];
    const found = (await readAll("tickets", { sort, per_page: 3 })).flatMap(printed);
    assertEquals([found.length, new Set(found).size], [20, 20]);
    // NULL is in a unique column as often as it likes, and a partial index knows not all rows.
    for (const table of ["loose", "half"]) {
      const body = { sort: [{ field: "code" }] };
      const error = assertRejectedAt(await query(table, body, { headers: PREFER }), "sort");
      assertMatch(error, /that the operator names as its primary_key in the policy$/);
      assertEquals((await query(table, body)).status, 200);
    }
  });

  it("does not take a unique column for one whose index compares in another way [Q95]", async () => {
    await run(
      `create table exact (tenant_id int4 not null, amount numeric not null, name text not null);
      create unique index on exact (name collate "C" text_pattern_ops);
      grant select on exact to rowgate_app`,
    );
    await waitFor("exact");
    const body = { sort: [{ field: "name" }] };
    assertRejectedAt(await query("exact", body, { headers: PREFER }), "sort");
  });

  it("gives a row that stays once, whatever is written meanwhile [Q96]", async () => {
    const sort = [{ field: "reading", direction: "desc" }];
    const body = { sort, select: ["id"], per_page: 20 };
    const first = await query("measurements", body, { headers: PREFER });
    const seen = recordsOf(first).map(({ id }) => id as number);
    await run(`insert into measurements
        select 5000 + n, 1, now() + n * interval '1 s', 'new', n from generate_series(1, 60) n;
      delete from measurements where id = ${seen.at(-1)};
      update measurements set reading = null where id = ${seen.at(-2)}`);
    for (let next = nextOf(first); next !== undefined;) {
      const page = await at(next, body);
      seen.push(...recordsOf(page).map(({ id }) => id as number));
      next = nextOf(page);
    }
    const old = seen.filter((id) => id < 5000);
    assertEquals([old.length, new Set(old).size], [260, 260]);
    await run("delete from measurements where id >= 5000 and tenant_id = 1");
  });

  it("is bound to table, filters and sort, and says which one differs [Q97]", async () => {
    const filters = { and: [{ field: "fid", op: "gt", value: 3 }] };
    const body = { filters, sort: [{ field: "title" }], per_page: 5 };
    const next = nextOf(await query("deals", body, { headers: PREFER }))!;
    const others = [
      [{ ...body, filters: { and: [{ field: "fid", op: "gt", value: 4 }] } }, "filters"],
      [{ ...body, filters: { and: [{ field: "fid", op: "gte", value: 3 }] } }, "filters"],
      [{ ...body, filters: { or: filters.and } }, "filters"],
      [{ sort: body.sort }, "filters"],
      [{ ...body, sort: [{ field: "title", direction: "desc" }] }, "sort"],
      [{ ...body, sort: [{ field: "title" }, { field: "status" }] }, "sort"],
      [{ filters }, "sort"],
    ] as const;
    for (const [other, part] of others) {
      const response = await at(next, other);
      assertRejectedAt(response, "after");
      assertMatch(String(response.body["error"]), new RegExp(`another|other ${part}`));
    }
    const elsewhere = next.replace("/deals/", "/measurements/");
    const response = await at(elsewhere, { per_page: 5 });
    assertMatch(String(response.body["error"]), /^after: .* another table/);
    assertEquals((await at(next, body)).status, 200);
  });

  it("takes the same filters in another spelling [Q97]", async () => {
    const body = {
      filters: { and: [{ field: "amount", op: "gt", value: 10.5 }] },
      sort: [{ field: "title" }],
      per_page: 5,
    };
    const next = nextOf(await query("deals", body, { headers: PREFER }))!;
    const same = {
      per_page: 5,
      sort: [{ direction: "asc", field: "title" }],
      filters: { and: [{ value: "10.5", op: "gt", field: "amount" }] },
    };
    assertEquals((await at(next, same)).status, 200);
  });

  it("rejects a sort whose values are too long for an address [L21]", async () => {
    await run(`create table essays (id int4 primary key, tenant_id int4 not null, body text);
      insert into essays select n, 1, n || repeat('é', case n when 3 then 1000 else 300 end)
        from generate_series(1, 6) n;
      grant select on essays to rowgate_app`);
    await waitFor("essays");
    const body = { sort: [{ field: "body" }], select: ["id"], per_page: 1 };
    const first = await query("essays", body, { headers: PREFER });
    const second = await at(nextOf(first)!, body);
    assert(`link: <${nextOf(second)}>; rel="next"`.length < 2000);
    assertRejectedAt(await at(nextOf(second)!, body), "sort");
    assertEquals((await query("essays", { ...body, page: 3 })).status, 200);
    assertEquals((await readAll("essays", { select: ["id"], per_page: 1 })).length, 6);
  });

  it("shows no value of a row, and no two tokens are the same [PT10]", async () => {
    const body = { sort: [{ field: "title" }], select: ["fid"], per_page: 5 };
    const first = await query("deals", body, { headers: PREFER });
    const again = await query("deals", body, { headers: PREFER });
    assertNotEquals(nextOf(first), nextOf(again));
    const token = nextOf(first)!.split("after=")[1]!;
    const bytes = atob(token.replaceAll("-", "+").replaceAll("_", "/"));
    assert(!bytes.includes("Deal"));
    assertEquals(Object.keys(recordsOf(first)[0]!), ["fid"]);
  });

  if (kind === "real") {
    it("pages by a key column that clients cannot see, without showing it [Q94] [T20]", async () => {
      await run(
        `create table secret_keys (tenant_id int4 not null, "bad-key" int8 not null, name text,
          primary key (tenant_id, "bad-key"));
        insert into secret_keys select 1, 8000 + n, 'n' || n % 2 from generate_series(1, 9) n;
        grant select on secret_keys to rowgate_app`,
      );
      await waitFor("secret_keys");
      const body = { sort: [{ field: "name" }], per_page: 2 };
      const pages = await readAll("secret_keys", body);
      assertEquals(pages.flatMap(recordsOf).length, 9);
      assert(!pages.some(({ text }) => text.includes("800")));
    });
  }

  it("sort by the key that the policy gives a table, and its columns cannot be set [Q94] [Q95] [T31]", async () => {
    const rows = await readPages(service().send, { table: "stamps", body: { per_page: 3 } });
    assertEquals([rows.length, new Set(rows.map(({ no }) => no)).size], [20, 20]);
    const listed = (await get("/integration/tables")).body["tables"] as {
      name: string;
      primary_key: string[];
    }[];
    const found = listed.find(({ name }) => name === "stamps");
    assertEquals(found?.primary_key, ["stream", "no"]);
    const body = { filters: { stream: "S1", no: 1 }, fields: { no: 99 } };
    assertRejectedAt(await single("stamps", body), "fields.no");
  });

  function waitFor(table: string): Promise<void> {
    return waitUntil(async () => (await query(table, { per_page: 1 })).status === 200);
  }
}, { policy: POLICY });
