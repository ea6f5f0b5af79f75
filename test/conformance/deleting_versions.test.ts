import { assertEquals, assertMatch, assertNotEquals } from "@std/assert";
import { before, it } from "@std/testing/bdd";
import { assertMatched, assertOk, assertRejected } from "./assert_response.ts";
import { describeService, type SendOptions } from "./describe_service.ts";
import { awaitBlocked, holding } from "./holding.ts";

const SCHEMA = `
  create table orders (id int4 primary key, tenant_id int4 not null, ref text,
    amount numeric(10, 2), at timestamptz default '2026-01-31T12:00:00+01:00', secret text);
  create table plain (id int4 primary key, tenant_id int4 not null, name text);
  create view plain_view as select id, tenant_id, name from plain;
  create table kept (id int4 primary key, tenant_id int4 not null, name text);
  create function touch() returns trigger language plpgsql as $$ begin
    update public.kept set name = 'touched' where id = old.id + 1; return old; end $$;
  create trigger touch before delete on kept for each row execute function touch();
  create table ruled (id int4 primary key, tenant_id int4 not null, name text);
  create table ruled_log (tenant_id int4, name text);
  create rule log as on delete to ruled do also insert into ruled_log values (old.tenant_id, old.name);
  create table parts (id int4, tenant_id int4 not null, n int4, primary key (id))
    partition by range (id);
  create table parts_1 partition of parts for values from (0) to (100);
  grant select, update, delete on all tables in schema public to public;
  grant insert on ruled_log to public;`;

const POLICY = {
  tables: {
    orders: { hidden_columns: ["secret"] },
    plain_view: { expose: true, writable: true, primary_key: ["id"] },
  },
};

describeService("Deletes of one version, and the row back", (conversation) => {
  const { service, one, remove, removeAll, run, kind } = conversation;
  let token = "";
  before(async () => {
    await run(SCHEMA);
    token = await service().issue({ scopes: ["delete", "query"] });
  });
  const drop = (table: string, filters: object, headers: Record<string, string> = {}) =>
    remove(table, { filters }, { token, headers });
  const read = (table: string, search: string, options: SendOptions = {}) =>
    one(table, search, { token, ...options });
  const etagOf = async (table: string, search: string) =>
    (await read(table, search)).headers.get("etag")!;
  const RETURN = { prefer: "return=representation" };

  it("deletes the row with If-Match only in the version that was read [OR11] [DE16]", async () => {
    await run("delete from orders; insert into orders values (1, 1, 'a', 1), (2, 1, 'b', 1)");
    for (const filters of [{ id: 1 }, { ref: "b" }]) {
      const search = Object.entries(filters).map((entry) => entry.join("=")).join("&");
      const old = await etagOf("orders", search);
      await run("update orders set amount = amount + 1");
      const stale = await drop("orders", filters, { "if-match": old });
      assertRejected(stale, 412, /^If-Match: the row has another version/);
      assertRejected(await drop("orders", filters, { "if-match": '"nonsense"' }), 412);
      assertRejected(await drop("orders", filters, { "if-match": `W/${old}` }), 412);
      assertRejected(await drop("orders", filters, { "if-match": "nonsense" }), 400);
      assertEquals((await run("select 1 from orders where id in (1, 2)")).length > 0, true);
      const now = await etagOf("orders", search);
      assertEquals(assertOk(await drop("orders", filters, { "if-match": now }))["deleted"], 1);
      assertMatched(await drop("orders", filters, { "if-match": now }), 404, 0);
    }
    assertEquals(await run("select id from orders"), []);
  });

  it("deletes a row of any version with a star, and lets one of several with one version through [OR13] [DE16]", async () => {
    await run("insert into orders values (1, 1, 'a', 1), (2, 1, 'a', 1)");
    assertOk(await drop("orders", { id: 2 }, { "if-match": "*" }));
    const etag = await etagOf("orders", "id=1");
    const all = Array.from({ length: 5 }, () => drop("orders", { id: 1 }, { "if-match": etag }));
    const statuses = (await Promise.all(all)).map(({ status }) => status).toSorted();
    assertEquals(statuses, [200, 404, 404, 404, 404]);
  });

  it("says that rows without versions have none, and refuses If-Match on bulk [OR14] [H29]", async () => {
    await run("insert into plain values (1, 1, 'a')");
    const refused = await drop("plain_view", { id: 1 }, { "if-match": '"a"' });
    assertRejected(refused, 412, "have no versions");
    const headers = { "if-match": "*", prefer: "max-affected=1" };
    const bulk = await removeAll("plain", { filters: { id: 1 } }, { token, headers });
    assertRejected(bulk, 400, /^If-Match: /);
    assertEquals((await run("select id from plain")).length, 1);
    assertOk(await drop("plain_view", { id: 1 }));
  });

  it("returns the row as it was, with its version, by the key and without it [DE17]", async () => {
    for (const filters of [{ id: 1 }, { ref: "a" }]) {
      await run(`delete from orders;
        insert into orders (id, tenant_id, ref, amount, secret) values (1, 1, 'a', 12.5, 'x')`);
      const stored = await read("orders", "id=1");
      const response = await drop("orders", filters, RETURN);
      const body = assertOk(response);
      assertEquals(Object.keys(body), ["success", "table", "matched", "deleted", "record"]);
      assertEquals(body["record"], assertOk(stored)["record"]);
      assertMatch(response.text, /"amount":12.50,"at":"2026-01-31T11:00:00/);
      assertEquals(response.headers.get("etag"), stored.headers.get("etag"));
      assertEquals(response.headers.get("preference-applied"), "return=representation");
      assertEquals(await run("select id from orders"), []);
    }
  });

  it("returns the row of partitions, views, tables with triggers and tables with rules [DE17]", async () => {
    await run(`insert into parts values (1, 1, 7); insert into plain values (3, 1, 'view');
      insert into kept values (1, 1, 'kept'); insert into ruled values (1, 1, 'rule')`);
    const rows = [["parts", 1, 7], ["plain_view", 3, "view"], ["kept", 1, "kept"], [
      "ruled",
      1,
      "rule",
    ]] as const;
    for (const [table, id, value] of rows) {
      const stored = await read(table, `id=${id}`);
      const response = await drop(table, { id }, RETURN);
      assertEquals(Object.values(assertOk(response)["record"] as object), [id, 1, value]);
      assertEquals(response.headers.get("etag"), stored.headers.get("etag"), table);
    }
  });

  it("returns the row that another program has just written, and not an older one [DE17] [DE4]", async () => {
    if (kind === "embedded") return;
    await run("delete from orders; insert into orders values (1, 1, 'a', 1)");
    let sent: ReturnType<typeof drop> | undefined;
    await holding(conversation, "update orders set amount = 99 where id = 1", async () => {
      sent = drop("orders", { id: 1 }, RETURN);
      await awaitBlocked(conversation);
    });
    const response = await sent!;
    assertEquals((assertOk(response)["record"] as { amount: number }).amount, 99);
    assertEquals(await run("select id from orders"), []);
  });

  it("keeps the returned row with the answer of an Idempotency-Key [DE17] [IK6]", async () => {
    await run("insert into orders values (1, 1, 'a', 1)");
    const headers = { ...RETURN, "idempotency-key": '"deleted row"' };
    const first = await drop("orders", { id: 1 }, headers);
    assertOk(first);
    const again = await drop("orders", { id: 1 }, headers);
    assertEquals(again.text, first.text);
    assertEquals(again.headers.get("etag"), first.headers.get("etag"));
    assertEquals(again.headers.get("idempotent-replayed"), "true");
  });

  it("returns no row to a token that may delete and not query, and deletes nothing [DE17] [OR18]", async () => {
    await run("insert into orders values (1, 1, 'a', 1)");
    const only = await service().issue({ scopes: ["delete"] });
    const options = { token: only, headers: RETURN };
    assertRejected(await remove("orders", { filters: { id: 1 } }, options), 403, '"query"');
    assertNotEquals(await run("select id from orders"), []);
    assertOk(await remove("orders", { filters: { id: 1 } }, { token: only }));
  });
}, { template: "empty", policy: POLICY });
