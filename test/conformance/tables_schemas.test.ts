import { assert, assertEquals } from "@std/assert";
import { before, it } from "@std/testing/bdd";
import { awaitFeeds, type ChangesBody, enableFeeds } from "../support/feeds.ts";
import { waitUntil } from "../support/wait_until.ts";
import { readPages } from "../support/read_pages.ts";
import { assertMatched, assertOk, assertRejected, recordsOf, valuesOf } from "./assert_response.ts";
import { describeService } from "./describe_service.ts";

/** `sales.deals` beside the fixture's `public.deals`; notes of one schema belong to orders of another. */
const SCHEMA = `
create schema sales;
create schema "old, stock";
create type sales.state as enum ('open', 'done');
create table sales.orders (id int4 primary key, tenant_id int4 not null,
  state sales.state not null default 'open', no text not null, unique (tenant_id, no));
create table sales.deals (fid int4 primary key, tenant_id int4 not null, title text not null);
create table sales.lines (order_id int4 not null references sales.orders, place int2,
  amount numeric not null, primary key (order_id, place));
create table order_notes (id int4 primary key, order_id int4 not null references sales.orders, text text);
create table sales.currencies (code text primary key, rate numeric);
create table sales."user_passwords" (id int4 primary key, tenant_id int4 not null, hash text);
create table sales.vault (id int4 primary key, tenant_id int4 not null);
create table "old, stock"."Straßen" (id int4 primary key, tenant_id int4 not null, "Länge" numeric);
create table "old, stock".shelves (id int4 primary key, tenant_id int4 not null);
insert into sales.orders select n + (t - 1) * 100, t, 'open', 'A-' || n || case t when 2 then ' CANARY' else '' end
from generate_series(1, 2) t, generate_series(1, 9) n;
insert into sales.deals select id, tenant_id, 'sold ' || no from sales.orders;
insert into sales.lines select id, p, id * 1.5 from sales.orders, generate_series(1, 2) p;
insert into order_notes select id, id, 'note of ' || no from sales.orders;
insert into sales.currencies values ('CHF', 1), ('EUR', 0.9);
insert into sales.user_passwords values (1, 1, 'SECRET'), (2, 2, 'SECRET');
insert into sales.vault values (1, 1);
insert into "old, stock"."Straßen" select id, tenant_id, id from sales.orders;
grant usage on schema sales, "old, stock" to public;
grant select, update on all tables in schema sales, "old, stock" to public;
grant select, update on order_notes to public;`;

const POLICY = {
  tables: {
    "sales.lines": { tenant_via: { columns: ["order_id"], table: "sales_orders" } },
    order_notes: { tenant_via: { columns: ["order_id"], table: "sales.orders" } },
    sales_currencies: { shared: true },
    "old, stock.Straßen": { name: "streets", columns: { "Länge": { name: "length" } } },
  },
  credential_tables: ["sales_vault"],
};

describeService("Tables of several schemas", (conversation) => {
  const { query, single, bulk, batch, get, run, service } = conversation;
  before(async () => {
    await run(SCHEMA);
    // A server that runs already looks again at an unknown name.
    await waitUntil(async () => (await query("order_notes")).status === 200);
  });
  const listTables = async () => {
    const { tables } = assertOk(await get("/integration/tables")) as unknown as {
      tables: { name: string; primary_key: string[]; changes: boolean; writable: boolean }[];
    };
    return tables;
  };

  it("are called by their own name, or by schema and name outside the first [T1] [T73]", async () => {
    const names = (await listTables()).map(({ name }) => name);
    for (
      const name of [
        "deals",
        "order_notes",
        "sales_orders",
        "sales_deals",
        "sales_lines",
        "streets",
      ]
    ) assert(names.includes(name), name);
    for (const name of ["orders_x", "lines", "shelves", "sales.orders", "old_stock_shelves"]) {
      assert(!names.includes(name), name);
      assertEquals((await query(name)).status, name.includes(".") ? 400 : 404);
    }
    assertEquals(assertOk(await query("deals", { per_page: 1 }))["total"], 60);
    const sold = await query("sales_deals", { sort: [{ field: "fid" }], per_page: 2 });
    assertEquals(sold.body["total"], 9);
    assertEquals(valuesOf(sold, "title"), ["sold A-1", "sold A-2"]);
  });

  it("are queried, looked up, paged and updated like those of the first [T73] [S8]", async () => {
    const by = (id: number) => ({ filters: { and: [{ field: "id", op: "eq", value: id }] } });
    const found = await Promise.all([1, 2, 101, 3].map((id) => query("sales_orders", by(id))));
    assertEquals(found.map((each) => valuesOf(each, "no")), [["A-1"], ["A-2"], [], ["A-3"]]);
    const body = { sort: [{ field: "no", direction: "desc" }], per_page: 4 };
    const rows = await readPages(service().send, { table: "sales_orders", body });
    assertEquals(rows.map(({ id }) => id), [9, 8, 7, 6, 5, 4, 3, 2, 1]);
    const done = { fields: { state: "done" } };
    assertOk(await single("sales_orders", { filters: { id: 1 }, ...done }));
    assertOk(await single("sales_orders", { filters: { no: "A-2" }, ...done }));
    assertMatched(await single("sales_orders", { filters: { id: 101 }, ...done }), 404, 0);
    assertOk(await batch("sales_orders", { updates: [{ filters: { id: 3 }, ...done }] }));
    assertEquals(
      assertOk(
        await bulk("sales_orders", { filters: { state: "done" }, fields: { state: "open" } }),
      )["updated"],
      3,
    );
    const taken = await single("sales_orders", { filters: { id: 1 }, fields: { no: "A-2" } });
    assertRejected(taken, 409, /^fields\.no: /);
    const wrong = await single("sales_orders", { filters: { id: 1 }, fields: { state: "gone" } });
    assertRejected(wrong, 400, /^fields\.state: /);
  });

  it("belong to tables of another schema, in both directions [T57] [T61] [T74]", async () => {
    for (const [table, total] of [["sales_lines", 18], ["order_notes", 9]] as const) {
      const response = await query(table);
      assertEquals(response.body["total"], total);
      for (const { order_id } of recordsOf(response)) assert(Number(order_id) < 100);
    }
    const filters = { id: 4 };
    assertOk(await single("order_notes", { filters, fields: { order_id: 5 } }));
    const moved = await single("order_notes", { filters, fields: { order_id: 105 } });
    assertRejected(moved, 409, /^fields\.order_id: /);
    const foreign = { filters: { id: 104 }, fields: { text: "taken" } };
    assertMatched(await single("order_notes", foreign), 404, 0);
  });

  it("are named by the policy: another name, shared, columns [T74] [T70] [T12]", async () => {
    assertEquals(recordsOf(await query("sales_currencies")).length, 2);
    assertRejected(
      await single("sales_currencies", { filters: { code: "CHF" }, fields: { rate: 2 } }),
      403,
    );
    const streets = await query("streets", {
      sort: [{ field: "length", direction: "desc" }],
      per_page: 1,
    });
    assertEquals(recordsOf(streets), [{ id: 9, tenant_id: 1, length: 9 }]);
    assertRejected(await query("old_stock_Stra_en"), 404);
  });

  it("are credential tables by their own name and by what they would be called [T76] [T24]", async () => {
    const names = (await listTables()).map(({ name }) => name);
    for (
      const name of [
        "sales_user_passwords",
        "SALES_USER_PASSWORDS",
        "user_passwords",
        "sales_vault",
      ]
    ) {
      assertRejected(await query(name), 403);
      assertRejected(await bulk(name, { filters: {}, fields: { hash: "x" } }), 403);
      assert(!names.includes(name), name);
    }
  });

  it("follow the database when a table is made or dropped [T38] [T39] [T73]", async () => {
    await run(`create table sales.made (id int4 primary key, tenant_id int4 not null);
      insert into sales.made values (1, 1), (2, 2); grant select on sales.made to public;
      notify rowgate_catalogue`);
    let found = await query("sales_made");
    for (let tries = 0; found.status === 404 && tries < 30; tries++) {
      await new Promise((resolve) => setTimeout(resolve, 100));
      found = await query("sales_made");
    }
    assertEquals(recordsOf(found), [{ id: 1, tenant_id: 1 }]);
    await run("drop table sales.made");
    assertRejected(await query("sales_made"), 404);
  });

  it("are exported, described, and kept apart in audit and answers [T73] [R23] [IK8]", async () => {
    const accept = { headers: { accept: "text/csv" } };
    const { text } = await query("sales_deals", { select: ["fid"], filters: { and: [] } }, accept);
    assertEquals(text.trim().split(/\r\n/).length, 10);
    const { body: document } = await get("/openapi.json");
    assert(JSON.stringify(document).includes("/integration/tables/sales_deals/query"));
    const headers = { "idempotency-key": '"one"' };
    const body = { filters: { fid: 1 }, fields: { title: "kept" } };
    for (let n = 0; n < 2; n++) {
      assertEquals(assertOk(await single("sales_deals", body, { headers }))["matched"], 1);
    }
    assertRejected(await single("deals", body, { headers }), 422);
    assertEquals(
      await run(`select schema_name, table_name, count(*)::int4 as n from rowgate.audit
        where fields = '{title}' group by 1, 2`),
      [{ schema_name: "sales", table_name: "deals", n: 1 }],
    );
  });

  it("have changes feeds, under the names of clients [CH2] [CH8] [T73]", async () => {
    const tables = ["sales_deals", "streets", "deals"];
    await enableFeeds(service(), tables);
    await awaitFeeds(service(), tables);
    const ask = async (table: string, search = "") =>
      assertOk(
        await get(`/integration/tables/${table}/changes${search}`),
      ) as unknown as ChangesBody;
    const first = await ask("sales_deals", "?limit=1000");
    assertEquals([first.changes.length, first.more], [9, false]);
    const streets = await ask("streets", "?limit=1000&fields=length");
    assertEquals(streets.changes[0], { type: "upsert", key: { id: 1 }, record: { length: 1 } });
    await run(
      "update sales.deals set title = 'new' where fid in (2, 102); delete from sales.deals where fid = 3",
    );
    const next = await ask("sales_deals", `?since=${first.cursor}&fields=title`);
    assertEquals(next.changes, [
      { type: "upsert", key: { fid: 2 }, record: { title: "new" } },
      { type: "delete", key: { fid: 3 }, record: null },
    ]);
    assertRejected(await get(`/integration/tables/deals/changes?since=${first.cursor}`), 400);
    assertEquals(
      (await listTables()).filter(({ changes }) => changes).map(({ name }) => name),
      ["deals", "sales_deals", "streets"],
    );
  });
}, {
  policy: POLICY,
  environment: { ROWGATE_SCHEMA: 'public,sales,"old, stock"', ROWGATE_AUDIT: "on" },
});
