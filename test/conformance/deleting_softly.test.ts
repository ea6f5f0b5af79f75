import { assertEquals, assertMatch } from "@std/assert";
import { before, it } from "@std/testing/bdd";
import { awaitFeeds, enableFeeds } from "../support/feeds.ts";
import { assertMatched, assertOk, assertRejected, assertRejectedAt } from "./assert_response.ts";
import { describeService, type SendOptions } from "./describe_service.ts";

const SCHEMA = `
  create table orders (id int4 primary key, tenant_id int4 not null, ref text,
    deleted_at timestamptz, unique (tenant_id, ref));
  create table guests (id int4 primary key, tenant_id int4 not null, name text,
    gone bool not null default false);
  create table days (id int4 primary key, tenant_id int4 not null, removed_on date, status text);
  create table lines (order_id int4 not null references orders, no int4, label text,
    removed timestamp, primary key (order_id, no));
  create table touched (id int4 primary key, tenant_id int4 not null, name text, deleted_at timestamptz);
  create function touch() returns trigger language plpgsql as $$ begin
    if new.name = 'keep' then return null; end if;
    new.name := new.name || '!'; return new; end $$;
  create trigger touch before update on touched for each row execute function touch();
  create function after_touch() returns trigger language plpgsql as $$ begin return null; end $$;
  create trigger after_touch after update on touched for each row execute function after_touch();
  create table unmarkable (id int4 primary key, tenant_id int4 not null, deleted_at timestamptz);
  create table wrong_type (id int4 primary key, tenant_id int4 not null, deleted_at text);
  create table wrong_null (id int4 primary key, tenant_id int4 not null,
    deleted_at timestamptz not null);
  create table wrong_name (id int4 primary key, tenant_id int4 not null);
  grant select, update, insert on all tables in schema public to public;
  revoke update on unmarkable from public;
  grant update (tenant_id) on unmarkable to public;`;

const POLICY = {
  tables: {
    orders: { soft_delete: "deleted_at" },
    guests: { soft_delete: "gone", hidden_columns: ["gone"] },
    days: {
      soft_delete: "removed_on",
      only: { and: [{ field: "status", op: "eq", value: "open" }] },
    },
    lines: { tenant_via: { columns: ["order_id"], table: "orders" }, soft_delete: "removed" },
    touched: { soft_delete: "deleted_at" },
    unmarkable: { soft_delete: "deleted_at" },
    wrong_type: { soft_delete: "deleted_at" },
    wrong_null: { soft_delete: "deleted_at" },
    wrong_name: { soft_delete: "removed_at" },
  },
};

describeService("Soft deletes", (conversation) => {
  const { service, remove, removeAll, query, one, single, bulk, get, run, kind } = conversation;
  let token = "";
  before(async () => {
    await run(SCHEMA);
    token = await service().issue({ scopes: ["query", "update", "create", "delete"] });
  });
  const drop = (table: string, filters: object, options: SendOptions = {}) =>
    remove(table, { filters }, { token, ...options });
  const dropAll = (table: string, filters: object, options: SendOptions = {}) =>
    removeAll(table, { filters }, { token, headers: { prefer: "max-affected=9" }, ...options });
  const create = (table: string, record: object) =>
    service().send("POST", `/integration/tables/${table}/records`, {
      body: { records: [record] },
      token,
    });
  const idsSeen = async (table: string) => {
    const page = assertOk(await query(table, { sort: [{ field: "id" }] }, { token }));
    const ids = (page["records"] as { id: number }[]).map(({ id }) => id);
    assertEquals(page["total"], ids.length);
    return ids;
  };

  it("marks the row instead of deleting it, with the time or with true [DE13] [DE14]", async () => {
    await run(`insert into orders values (1, 1, 'a'), (2, 1, 'b'), (3, 2, 'a');
      insert into guests values (1, 1, 'g'), (2, 1, 'g'), (3, 2, 'g');
      insert into days values (1, 1, null, 'open'), (2, 1, null, 'closed');
      insert into lines values (1, 1, 'l'), (3, 1, 'l')`);
    const deleted = await drop("orders", { id: 1 });
    assertEquals(deleted.body, { success: true, table: "orders", matched: 1, deleted: 1 });
    assertEquals(assertOk(await dropAll("guests", { name: "g" }))["deleted"], 2);
    assertOk(await drop("days", { status: "open" }));
    assertOk(await drop("lines", { label: "l" }));
    assertEquals(
      await run(`select id, deleted_at is null as live, deleted_at < now() + interval '1 second' and
        deleted_at > now() - interval '1 hour' as recent from orders order by id`),
      [
        { id: 1, live: false, recent: true },
        { id: 2, live: true, recent: null },
        { id: 3, live: true, recent: null },
      ],
    );
    assertEquals(await run("select id, gone from guests order by id"), [
      { id: 1, gone: true },
      { id: 2, gone: true },
      { id: 3, gone: false },
    ]);
    assertEquals(await run("select id from days where removed_on is not null"), [{ id: 1 }]);
    assertEquals(await run("select order_id from lines where removed is not null"), [
      { order_id: 1 },
    ]);
  });

  it("shows a marked row to no operation, and deletes it once [DE14]", async () => {
    await run(`truncate orders cascade;
      insert into orders values (1, 1, 'a', null), (2, 1, 'b', '2020-01-01'), (3, 1, 'c', 'infinity')`);
    assertEquals(await idsSeen("orders"), [1]);
    assertMatched(await one("orders", "id=2", { token }), 404, 0);
    assertMatched(
      await single("orders", { filters: { id: 2 }, fields: { ref: "x" } }, { token }),
      404,
      0,
    );
    const all = await bulk("orders", { filters: { tenant_id: 1 }, fields: { ref: "a" } }, {
      token,
    });
    assertEquals(assertOk(all)["updated"], 0);
    assertMatched(await drop("orders", { id: 3 }), 404, 0);
    assertEquals(assertOk(await dropAll("orders", { ref: "b" }))["deleted"], 0);
    const accept = { accept: "application/x-ndjson" };
    const exported = await query("orders", {}, { token, headers: accept });
    assertEquals(exported.text.trim().split("\n").length, 1);
    assertOk(await drop("orders", { id: 1 }));
    assertMatched(await drop("orders", { id: 1 }), 404, 0);
    assertEquals(await idsSeen("orders"), []);
    const before = await run("select deleted_at::text from orders where id = 2");
    assertEquals(before, [{ deleted_at: before[0]!["deleted_at"] }]);
    assertMatch(String(before[0]!["deleted_at"]), /^2020-01-01/);
  });

  it("lets no client set the mark by an update or a create, and none set it back [DE15]", async () => {
    await run(
      "truncate orders cascade; insert into orders values (1, 1, 'a', null), (2, 1, 'b', now())",
    );
    const fields = { deleted_at: "2026-01-31T00:00:00Z" };
    assertRejectedAt(
      await single("orders", { filters: { id: 1 }, fields }, { token }),
      "fields.deleted_at",
    );
    assertRejectedAt(
      await bulk("orders", { filters: { id: 2 }, fields: { deleted_at: null } }, { token }),
      "fields.deleted_at",
    );
    assertRejectedAt(await create("orders", { id: 9, ...fields }), "records[0].deleted_at");
    assertRejectedAt(await create("guests", { id: 9, gone: true }), "records[0].gone");
    assertEquals((await create("guests", { id: 9, name: "new" })).status, 201);
    // The key of a row that was deleted is still taken.
    assertRejected(await create("orders", { id: 9, ref: "b" }), 409);
    assertEquals(await run("select id from orders where deleted_at is null"), [{ id: 1 }]);
  });

  it("lets no upsert write a marked row, or say more than that its key is taken [DE14]", async () => {
    await run(
      "truncate orders cascade; insert into orders values (1, 1, 'a', null), (2, 1, 'b', now())",
    );
    const put = (ref: string) =>
      service().send("PUT", "/integration/tables/orders/records", {
        body: { match: ["ref"], records: [{ id: 9, ref }] },
        token,
      });
    assertRejected(await put("b"), 409);
    assertEquals(await run("select id from orders where deleted_at is null"), [{ id: 1 }]);
  });

  it("returns the row as it was, and obeys If-Match, dry runs and keys [DE16] [DE17] [DE7]", async () => {
    await run("truncate orders cascade; insert into orders values (1, 1, 'a'), (2, 1, 'b')");
    const stored = await one("orders", "id=1", { token });
    const etag = stored.headers.get("etag")!;
    assertRejected(await drop("orders", { id: 2 }, { headers: { "if-match": etag } }), 412);
    const dry = { headers: { prefer: "tx=rollback, return=representation" } };
    assertEquals(
      assertOk(await drop("orders", { ref: "a" }, dry))["record"],
      stored.body["record"],
    );
    assertEquals(await idsSeen("orders"), [1, 2]);
    const headers = {
      "if-match": etag,
      prefer: "return=representation",
      "idempotency-key": '"soft"',
    };
    const first = await drop("orders", { id: 1 }, { headers });
    assertEquals(assertOk(first)["record"], stored.body["record"]);
    assertEquals(first.headers.get("etag"), etag);
    assertEquals((await drop("orders", { id: 1 }, { headers })).text, first.text);
    assertEquals(await idsSeen("orders"), [2]);
  });

  it("obeys triggers of updates, also those behind the write [DE8] [DE14]", async () => {
    await run("insert into touched values (1, 1, 'a'), (2, 1, 'keep'), (3, 1, 'b'), (4, 1, 'b')");
    const headers = { prefer: "return=representation" };
    const deleted = assertOk(await drop("touched", { id: 1 }, { headers }));
    assertEquals((deleted["record"] as { name: string }).name, "a");
    assertRejected(await drop("touched", { id: 2 }), 409, "The database refused the change");
    assertEquals(assertOk(await dropAll("touched", { name: "b" }))["deleted"], 2);
    assertEquals(await run("select id, name from touched where deleted_at is null"), [
      { id: 2, name: "keep" },
    ]);
    assertEquals((await run("select id from touched where name like '%!'")).length, 3);
  });

  it("needs the right UPDATE on the column, and no right DELETE [DE15]", async () => {
    const { tables } = assertOk(await get("/integration/tables", { token }));
    const may = new Map(
      (tables as { name: string; deletable: boolean }[]).map((each) => [each.name, each.deletable]),
    );
    assertEquals(may.get("orders"), true);
    if (kind === "embedded") return;
    assertEquals(may.get("unmarkable"), false);
    assertRejected(await drop("unmarkable", { id: 1 }), 403, "has no records that can be deleted");
  });

  it("exposes no table whose mark is neither a time that may be null nor a boolean [DE13]", async () => {
    for (const table of ["wrong_type", "wrong_null", "wrong_name"]) {
      assertRejected(await query(table, {}, { token }), 404, "was not found");
    }
  });

  it("reaches no row of another tenant [DE3] [TE28]", async () => {
    await run(`truncate orders cascade; insert into orders values (1, 1, 'a'), (2, 2, 'a');
      insert into lines values (1, 1, 'l'), (2, 1, 'l')`);
    assertMatched(await drop("orders", { id: 2 }), 404, 0);
    assertMatched(await drop("lines", { order_id: 2, no: 1 }), 404, 0);
    assertEquals(assertOk(await dropAll("lines", { label: "l" }))["deleted"], 1);
    assertEquals(assertOk(await dropAll("orders", { ref: "a" }))["deleted"], 1);
    assertEquals(await run("select id from orders where deleted_at is null"), [{ id: 2 }]);
  });

  if (kind === "real") {
    it("tells a marked row as deleted in the feed [DE14] [CH25]", async () => {
      await run("truncate orders cascade; insert into orders values (1, 1, 'a'), (2, 1, 'b')");
      await enableFeeds(service(), ["orders"]);
      await awaitFeeds(service(), ["orders"]);
      const path = "/integration/tables/orders/changes?since=";
      const { cursor } = assertOk(await get(`${path}now`, { token }));
      assertOk(await drop("orders", { id: 1 }));
      const since = encodeURIComponent(String(cursor));
      const { changes } = assertOk(await get(`${path}${since}`, { token }));
      assertEquals(changes, [{ type: "delete", key: { id: 1 }, record: null }]);
      const first = assertOk(await get(`${path}start`, { token }));
      assertEquals((first["changes"] as { key: { id: number } }[]).map(({ key }) => key.id), [2]);
    });
  }
}, { template: "empty", policy: POLICY });
