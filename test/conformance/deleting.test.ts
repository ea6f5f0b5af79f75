import { assertEquals, assertStringIncludes } from "@std/assert";
import { before, it } from "@std/testing/bdd";
import { openAgent } from "../support/agent.ts";
import type { ReceivedResponse } from "../support/service.ts";
import { waitUntil } from "../support/wait_until.ts";
import { assertMatched, assertOk, assertRejected, assertRejectedAt } from "./assert_response.ts";
import { describeService, type SendOptions } from "./describe_service.ts";

const SCHEMA = `
  create table orders (id int4 primary key, tenant_id int4 not null, ref text, note text,
    at timestamptz default '2026-01-31T12:00:00Z', unique (tenant_id, id));
  create table lines (order_id int4 not null references orders on delete cascade, no int4,
    label text, primary key (order_id, no));
  create table payments (id int4 primary key, tenant_id int4 not null,
    order_id int4 references orders);
  create table notes (id int4 primary key, tenant_id int4 not null,
    order_id int4 references orders on delete set null);
  create table labels (id int4 primary key, tenant_id int4 not null, order_id int4,
    foreign key (tenant_id, order_id) references orders (tenant_id, id) on delete cascade);
  create table label_texts (label_id int4 references labels on delete cascade, text text);
  create table logs (tenant_id int4 not null, text text);
  create table parts (id int4, tenant_id int4 not null, n int4, primary key (id))
    partition by range (id);
  create table parts_1 partition of parts for values from (0) to (100);
  create table parts_2 partition of parts for values from (100) to (200);
  create table both_keys (firm int4, branch text, id uuid, name text, primary key (firm, branch, id));
  create table open_tasks (id int4 primary key, tenant_id int4 not null, status text not null);
  create table plain (id int4 primary key, tenant_id int4 not null, name text);
  create view plain_view with (security_invoker = off) as select id, tenant_id, name from plain;
  create table sealed (id int4 primary key, tenant_id int4 not null);
  create table ungranted (id int4 primary key, tenant_id int4 not null);
  create table bare (id int4 primary key, tenant_id int4 not null, name text);
  create table kept (id int4 primary key, tenant_id int4 not null, name text);
  create table kept_log (id int4, tenant_id int4);
  create function keep() returns trigger security definer language plpgsql as $$ begin
    insert into public.kept_log values (old.id, old.tenant_id);
    if old.name = 'keep' then return null; end if;
    if old.name = 'raise' then raise exception 'it stays'; end if;
    return old; end $$;
  create trigger keep before delete on kept for each row execute function keep();
  create table ruled (id int4 primary key, tenant_id int4 not null, name text);
  create table ruled_log (tenant_id int4, name text);
  create rule log as on delete to ruled do also insert into ruled_log values (old.tenant_id, old.name);
  create table guarded_rows (id int4 primary key, tenant_id int4 not null, name text);
  alter table guarded_rows enable row level security;
  create policy all_rows on guarded_rows using (true);
  create policy good_rows on guarded_rows as restrictive for delete using (name <> 'bad');
  create table deferred (id int4 primary key, tenant_id int4 not null);
  create table deferring (id int4 primary key, tenant_id int4 not null,
    deferred_id int4 references deferred deferrable initially deferred);
  grant select, update, delete on all tables in schema public to public;
  revoke delete on ungranted from public;
  revoke update on bare from public;
  grant insert on ruled_log to public;`;

const POLICY = {
  tables: {
    lines: { tenant_via: { columns: ["order_id"], table: "orders" } },
    both_keys: { tenant_columns: ["firm", "branch"] },
    open_tasks: { only: { and: [{ field: "status", op: "eq", value: "open" }] } },
    plain_view: { expose: true, writable: true, primary_key: ["id"] },
    sealed: { delete: false },
  },
};

const REFERRED = "Other rows refer to a row that matches the filters; nothing was deleted";

/** A type for a key, and two values of it. */
const KEYS: readonly (readonly [type: string, one: string, other: string])[] = [
  ["int2", "1", "2"],
  ["int8", "9007199254740993", "2"],
  ["numeric(10, 2)", "1.50", "2"],
  ["float8", "0.1", "2"],
  ["text", "a'b", "A'B"],
  ["varchar(5)", "ab", "b"],
  ["char(5)", "ab", "b"],
  ["bool", "true", "false"],
  ["date", "2026-01-31", "infinity"],
  ["timestamptz", "2026-01-31T12:00:00.123456+01:00", "-infinity"],
  ["timestamp", "2026-01-31T12:00:00", "2026-02-01"],
  ["time", "12:00", "13:00"],
  ["interval", "P1D", "PT24H1S"],
  ["uuid", "00000000-0000-4000-8000-000000000001", "00000000-0000-4000-8000-000000000002"],
  ["bytea", "\\x00ff", "\\x00"],
  ["inet", "10.0.0.1", "10.0.0.2"],
  ["int4range", "[1,3)", "[1,4)"],
  ["int4[]", "{1,2}", "{1}"],
  ["jsonb", '{"a": 1}', '{"a": 2}'],
  ["key_mood", "sad", "happy"],
  ["key_domain", "sad", "happy"],
];

describeService("Delete Records", ({ service, get, remove, removeAll, run, kind }) => {
  let token = "";
  before(async () => {
    await run(SCHEMA);
    token = await service().issue({ scopes: ["delete", "query"] });
  });
  const one = (table: string, filters: object, options: SendOptions = {}) =>
    remove(table, { filters }, { token, ...options });
  const all = (table: string, filters: object, options: SendOptions = {}) =>
    removeAll(table, { filters }, { token, headers: { prefer: "max-affected=10" }, ...options });
  const idsOf = async (table: string, column = "id") =>
    (await run(`select ${column} as id from public.${table} order by 1`)).map(({ id }) => id);
  const assertDeleted = (response: ReceivedResponse, table: string) =>
    assertEquals(response.body, { success: true, table, matched: 1, deleted: 1 }, response.text);

  it("deletes exactly the one row that matches, and says so [DE1] [DE3]", async () => {
    await run("insert into orders values (1, 1, 'a'), (2, 1, 'b'), (3, 1, 'b')");
    const response = await one("orders", { ref: "a" });
    assertEquals(response.status, 200, response.text);
    assertDeleted(response, "orders");
    assertEquals(await idsOf("orders"), [2, 3]);
    const gone = await one("orders", { ref: "a" });
    assertStringIncludes(assertMatched(gone, 404, 0), "No row matches");
    const several = assertMatched(await one("orders", { ref: "b" }), 409, 2);
    assertStringIncludes(
      several,
      "2 rows match the filters, expected exactly one; to delete them all",
    );
    assertEquals(await idsOf("orders"), [2, 3]);
  });

  it("deletes every row that matches, within the number that the request allows [DE5] [DE6]", async () => {
    await run(
      "delete from orders; insert into orders select n, 1, 'many' from generate_series(1, 12) n",
    );
    const refused = await all("orders", { ref: "many" });
    assertRejected(refused, 409, "12 rows match the filters, more than max-affected=10");
    for (const prefer of ["", "tx=rollback", "handling=strict"]) {
      const unlimited = await all("orders", { ref: "many" }, { headers: { prefer } });
      assertRejected(unlimited, 400, /^Prefer: max-affected is missing/);
    }
    assertRejected(
      await all("orders", { ref: "many" }, {
        headers: { prefer: "max-affected=20, return=representation" },
      }),
      400,
      /^Prefer: /,
    );
    assertEquals((await idsOf("orders")).length, 12);
    const none = assertOk(await all("orders", { ref: "none" }));
    assertEquals(none, { success: true, table: "orders", deleted: 0 });
    const twelve = await all("orders", { ref: "many" }, { headers: { prefer: "max-affected=12" } });
    assertEquals(assertOk(twelve)["deleted"], 12);
    assertEquals(twelve.headers.get("preference-applied"), "max-affected=12");
    assertEquals(await idsOf("orders"), []);
  });

  it("refuses bodies that are no filters, and columns and values that do not fit, at their paths [DE1]", async () => {
    await run("delete from orders; insert into orders values (1, 1, 'a')");
    for (
      const [body, path] of [
        [{}, "filters"],
        [{ filters: {} }, "filters"],
        [{ filters: [] }, "filters"],
        [{ filters: null }, "filters"],
        [{ filters: { id: 1 }, fields: { ref: "x" } }, "fields"],
        [{ filters: { id: 1 }, limit: 1 }, "limit"],
        [{ filters: { id: [1] } }, "filters.id"],
        [{ filters: { nope: 1 } }, "filters.nope"],
        [{ filters: { id: "one" } }, "filters.id"],
        [{ filters: { and: [] } }, "filters.and"],
        [{ filters: { at: "2026-02-30" } }, "filters.at"],
      ] as const
    ) {
      assertRejectedAt(await remove("orders", body, { token }), path);
      const headers = { prefer: "max-affected=1" };
      assertRejectedAt(await removeAll("orders", body, { token, headers }), path);
    }
    assertRejected(await remove("orders", undefined, { token, raw: "[]" }), 400);
    assertRejected(await remove("orders", undefined, { token, raw: "{" }), 400);
    assertEquals(await idsOf("orders"), [1]);
  });

  it("needs the scope delete, the right DELETE and the policy's leave [DE2]", async () => {
    await run("insert into sealed values (1, 1); insert into ungranted values (1, 1)");
    const other = await service().issue({ scopes: ["query", "update", "create"] });
    assertRejected(await one("orders", { id: 1 }, { token: other }), 403, '"delete"');
    // The role of the embedded Postgres owns its tables.
    const closed = kind === "embedded" ? ["sealed"] : ["sealed", "ungranted"];
    for (const table of closed) {
      assertRejected(await one(table, { id: 1 }), 403, "has no records that can be deleted");
      assertRejected(await all(table, { id: 1 }), 403, "has no records that can be deleted");
      assertEquals(await idsOf(table), [1]);
    }
    const { tables } = assertOk(await get("/integration/tables", { token }));
    const may = new Map(
      (tables as { name: string; deletable: boolean }[]).map((each) => [each.name, each.deletable]),
    );
    const open = ["orders", "lines", "bare"].map((name) => may.get(name));
    assertEquals([open, closed.map((name) => may.get(name))], [
      [true, true, true],
      closed.map(() => false),
    ]);
  });

  it("deletes without the right UPDATE, also in a dry run [DE2] [DE4]", async () => {
    await run("insert into bare values (1, 1, 'a'), (2, 1, 'b')");
    assertDeleted(await one("bare", { id: 1 }, { headers: { prefer: "tx=rollback" } }), "bare");
    assertDeleted(await one("bare", { name: "a" }), "bare");
    assertMatched(await one("bare", { id: 1 }), 404, 0);
    assertEquals(await idsOf("bare"), [2]);
  });

  it("reaches no row of another tenant, by its key, by a filter, or through its parent [DE3] [T57]", async () => {
    await run(`truncate orders cascade; insert into orders values (1, 1, 'x'), (2, 2, 'x');
      insert into lines values (1, 1, 'l'), (2, 1, 'l')`);
    const theirs = await service().issue({ tenant: "2", scopes: ["delete"] });
    assertMatched(await one("orders", { id: 1 }, { token: theirs }), 404, 0);
    assertMatched(await one("orders", { id: 1, tenant_id: 1 }, { token: theirs }), 404, 0);
    assertMatched(await one("lines", { order_id: 1, no: 1 }, { token: theirs }), 404, 0);
    assertEquals(assertOk(await all("lines", { label: "l" }, { token: theirs }))["deleted"], 1);
    assertEquals(await idsOf("lines", "order_id"), [1]);
    assertEquals(assertOk(await all("orders", { ref: "x" }, { token: theirs }))["deleted"], 1);
    assertEquals(await idsOf("orders"), [1]);
    assertDeleted(await one("lines", { order_id: 1, no: 1 }), "lines");
  });

  it("deletes no row that the row filter hides [DE3] [T64]", async () => {
    await run("insert into open_tasks values (1, 1, 'open'), (2, 1, 'closed')");
    assertMatched(await one("open_tasks", { id: 2 }), 404, 0);
    assertEquals(assertOk(await all("open_tasks", { status: "closed" }))["deleted"], 0);
    assertDeleted(await one("open_tasks", { id: 1 }), "open_tasks");
    assertEquals(await idsOf("open_tasks"), [2]);
  });

  it("deletes rows of composite tenants, partitions, views and tables without a key [DE3] [DE5]", async () => {
    const id = "00000000-0000-4000-8000-000000000001";
    await run(`insert into both_keys values (7, 'north', '${id}', 'n'), (7, 'south', '${id}', 's');
      insert into parts values (5, 1, 1), (150, 1, 2), (160, 1, 2), (6, 2, 1);
      insert into plain values (1, 1, 'p'), (2, 2, 'p'), (3, 1, 'q');
      insert into logs values (1, 'a'), (1, 'a'), (1, 'b'), (2, 'b')`);
    const composite = await service().issue({ tenant: "7/north", scopes: ["delete"] });
    assertDeleted(await one("both_keys", { id }, { token: composite }), "both_keys");
    assertEquals(await idsOf("both_keys", "branch"), ["south"]);
    assertDeleted(await one("parts", { id: 5 }), "parts");
    assertEquals(assertOk(await all("parts", { n: 2 }))["deleted"], 2);
    assertEquals(await idsOf("parts"), [6]);
    assertDeleted(await one("plain_view", { id: 1 }), "plain_view");
    assertEquals(assertOk(await all("plain_view", { name: "p" }))["deleted"], 0);
    assertMatched(await one("plain_view", { id: 2 }), 404, 0);
    assertEquals(await idsOf("plain"), [2, 3]);
    assertMatched(await one("logs", { text: "a" }), 409, 2);
    assertDeleted(await one("logs", { text: "b" }), "logs");
    assertEquals(assertOk(await all("logs", { text: "a" }))["deleted"], 2);
    assertEquals(await idsOf("logs", "tenant_id"), [2]);
  });

  it("deletes one row by keys of every type [DE3]", async () => {
    await run(
      `create type key_mood as enum ('happy', 'sad'); create domain key_domain as key_mood`,
    );
    for (const [place, [type, one, other]] of KEYS.entries()) {
      const quote = (value: string) => `'${value.replaceAll("'", "''")}'::${type}`;
      await run(
        `create table keyed_${place} (tenant_id int4, k ${type}, primary key (tenant_id, k));
        insert into keyed_${place} values (1, ${quote(one)}), (1, ${quote(other)}), (2, ${
          quote(one)
        });
        grant select, update, delete on keyed_${place} to public`,
      );
    }
    const last = `keyed_${KEYS.length - 1}`;
    await waitUntil(async () => (await one(last, { k: "none" })).status !== 404);
    for (const [place, [type, value]] of KEYS.entries()) {
      const table = `keyed_${place}`;
      const response = await one(table, { k: value });
      assertEquals(response.status, 200, `${type}: ${response.text}`);
      assertDeleted(response, table);
      assertMatched(await one(table, { k: value }), 404, 0);
      assertEquals(await idsOf(table, "tenant_id"), [1, 2]);
    }
  });

  it("keeps a row that others refer to, checked at once or at the end, and says nothing of them [DE9]", async () => {
    await run(
      `truncate orders, deferred cascade; insert into orders values (1, 1, 'a'), (2, 1, 'a');
      insert into payments values (1, 1, 1), (2, 2, 2);
      insert into deferred values (1, 1); insert into deferring values (1, 1, 1)`,
    );
    for (const id of [1, 2]) assertRejected(await one("orders", { id }), 409, REFERRED);
    assertRejected(await all("orders", { ref: "a" }), 409, REFERRED);
    assertRejected(await one("deferred", { id: 1 }), 409, REFERRED);
    assertEquals(await idsOf("orders"), [1, 2]);
    assertEquals(await idsOf("deferred"), [1]);
    await run("truncate payments");
  });

  it("lets foreign keys delete rows, or set them to NULL [DE10] [DE11]", async () => {
    await run(`truncate orders cascade; insert into orders values (1, 1, 'a'), (2, 1, 'b');
      insert into lines values (1, 1), (1, 2), (2, 1);
      insert into notes values (1, 1, 1), (2, 1, 2);
      insert into labels values (1, 1, 1), (2, 1, 2);
      insert into label_texts values (1, 'x'), (2, 'x')`);
    assertDeleted(await one("orders", { id: 1 }), "orders");
    assertEquals(await idsOf("lines", "order_id"), [2]);
    assertEquals(await run("select id, order_id from notes order by id"), [
      { id: 1, order_id: null },
      { id: 2, order_id: 2 },
    ]);
    assertEquals(await idsOf("labels"), [2]);
    assertEquals(await idsOf("label_texts", "label_id"), [2]);
  });

  it("changes no row of another tenant by a foreign key, though it says so [DE11] [TE28]", async () => {
    await run(`truncate orders, notes cascade; insert into orders values (1, 1, 'a'), (2, 1, 'a');
      insert into notes values (1, 2, 1)`);
    assertRejected(await one("orders", { id: 1 }), 409, REFERRED);
    assertRejected(await all("orders", { ref: "a" }), 409, REFERRED);
    assertEquals(await run("select order_id from notes"), [{ order_id: 1 }]);
    assertEquals(await idsOf("orders"), [1, 2]);
    assertDeleted(await one("orders", { id: 2 }), "orders");
  });

  it("deletes nothing that reaches a table which the token lacks [DE12]", async () => {
    await run("truncate orders, notes cascade; insert into orders values (1, 1, 'a')");
    const tables = ["orders", "lines", "labels"];
    const some = await service().issue({ scopes: ["delete"], tables });
    assertRejected(await one("orders", { id: 1 }, { token: some }), 403, "does not grant");
    const enough = await service().issue({ scopes: ["delete"], tables: [...tables, "notes"] });
    assertDeleted(await one("orders", { id: 1 }, { token: enough }), "orders");
  });

  it("obeys a trigger that keeps the row or raises, and fires it once [DE8]", async () => {
    await run(`insert into kept values (1, 1, 'keep'), (2, 1, 'raise'), (3, 1, 'go')`);
    assertRejected(await one("kept", { id: 1 }), 409, "The database refused the change");
    assertEquals(await run("select id from kept_log"), [{ id: 1 }]);
    assertRejected(await one("kept", { name: "keep" }), 409, "The database refused the change");
    assertEquals(await run("select id from kept_log"), [{ id: 1 }, { id: 1 }]);
    assertRejected(await one("kept", { id: 2 }), 400, "it stays");
    assertDeleted(await one("kept", { id: 3 }), "kept");
    assertEquals(assertOk(await all("kept", { id: 1 }))["deleted"], 0);
    assertEquals(await idsOf("kept"), [1, 2]);
  });

  it("obeys rewrite rules and row level security [DE4] [DE8]", async () => {
    await run(`insert into ruled values (1, 1, 'r'), (2, 1, 's'), (3, 1, 's'), (4, 2, 's');
      insert into guarded_rows values (1, 1, 'good'), (2, 1, 'bad')`);
    assertDeleted(await one("ruled", { id: 1 }), "ruled");
    assertMatched(await one("ruled", { id: 1 }), 404, 0);
    assertMatched(await one("ruled", { name: "s" }), 409, 2);
    assertEquals(assertOk(await all("ruled", { name: "s" }))["deleted"], 2);
    assertEquals(await idsOf("ruled"), [4]);
    assertDeleted(await one("guarded_rows", { id: 1 }), "guarded_rows");
    if (kind === "embedded") return;
    assertRejected(await one("guarded_rows", { id: 2 }), 409, "The database refused the change");
    assertEquals(await idsOf("guarded_rows"), [2]);
  });

  it("keeps everything with tx=rollback, and deletes nothing twice with an Idempotency-Key [DE7]", async () => {
    await run("truncate orders cascade; insert into orders values (1, 1, 'a'), (2, 1, 'b')");
    const dry = { headers: { prefer: "tx=rollback" } };
    const tried = await one("orders", { id: 1 }, dry);
    assertDeleted(tried, "orders");
    assertEquals(tried.headers.get("preference-applied"), "tx=rollback");
    const both = { headers: { prefer: "tx=rollback, max-affected=2" } };
    assertEquals(assertOk(await all("orders", { tenant_id: 1 }, both))["deleted"], 2);
    assertEquals(await idsOf("orders"), [1, 2]);
    for (
      const [place, send] of [
        () => one("orders", { id: 1 }, keyed("a")),
        () => all("orders", { ref: "b" }, keyed("b")),
      ].entries()
    ) {
      const first = await send();
      assertOk(first);
      await run(`insert into orders values (${place + 1}, 1, '${"ab"[place]}')`);
      const again = await send();
      assertEquals(again.text, first.text);
      assertEquals(again.headers.get("idempotent-replayed"), "true");
    }
    assertRejected(await one("orders", { id: 2 }, keyed("a")), 422);
    const missing = await one("orders", { id: 99 }, keyed("c"));
    assertMatched(missing, 404, 0);
    await run("insert into orders values (99, 1, 'c')");
    assertEquals((await one("orders", { id: 99 }, keyed("c"))).text, missing.text);
    assertEquals(await idsOf("orders"), [1, 2, 99]);
  });

  function keyed(key: string) {
    return { headers: { "idempotency-key": `"delete-${key}"`, prefer: "max-affected=10" } };
  }

  it("lets agents delete, with tools that are marked to destroy, and a limit for several records [MC4] [MC6] [DE6]", async () => {
    await run(`truncate orders cascade;
      insert into orders values (1, 1, 'a'), (2, 1, 'b'), (3, 1, 'b'), (4, 2, 'b')`);
    const agent = openAgent((...words) => service().send(...words));
    const tools = await agent.list({ token });
    for (const name of ["delete_record", "delete_records"]) {
      const tool = tools.find((each) => each.name === name)!;
      const { readOnlyHint, destructiveHint } = tool.annotations;
      assertEquals([readOnlyHint, destructiveHint], [false, true]);
      assertEquals(tool.inputSchema.properties.table?.enum?.includes("sealed"), false);
    }
    const reader = await service().issue({ scopes: ["query", "update"] });
    const offered = (await agent.list({ token: reader })).map(({ name }) => name);
    assertEquals(offered.filter((name) => name.startsWith("delete")), []);
    const call = (name: string, given: object) =>
      agent.call(name, { table: "orders", ...given }, { token });
    assertEquals((await call("delete_record", { filters: { id: 1 } })).answer.deleted, 1);
    const several = await call("delete_record", { filters: { ref: "b" } });
    assertStringIncludes(several.text, "use delete_records");
    const unlimited = await call("delete_records", { filters: { ref: "b" } });
    assertStringIncludes(unlimited.text, "max_affected: It is missing");
    const over = await call("delete_records", { filters: { ref: "b" }, max_affected: 1 });
    assertStringIncludes(over.text, "2 rows match the filters");
    assertEquals(await idsOf("orders"), [2, 3, 4]);
    const both = await call("delete_records", { filters: { ref: "b" }, max_affected: 2 });
    assertEquals(both.answer.deleted, 2);
    assertEquals(await idsOf("orders"), [4]);
  });

  it("leaves a row in the audit, in the transaction of the delete, and none for a refusal [DE7]", async () => {
    await run(`truncate rowgate.audit; truncate orders cascade;
      insert into orders values (1, 1, 'a'), (2, 1, 'b'), (3, 1, 'b')`);
    assertOk(await one("orders", { id: 1 }));
    assertMatched(await one("orders", { id: 1 }), 404, 0);
    assertOk(await all("orders", { ref: "b" }));
    assertEquals(
      await run(
        `select operation, table_name, filter_fields::text, fields::text, matched::int4, updated::int4
        from rowgate.audit order by number`,
      ),
      [
        {
          operation: "delete_single",
          table_name: "orders",
          filter_fields: "{id}",
          fields: "{}",
          matched: 1,
          updated: 1,
        },
        {
          operation: "delete_bulk",
          table_name: "orders",
          filter_fields: "{ref}",
          fields: "{}",
          matched: 2,
          updated: 2,
        },
      ],
    );
  });
}, { template: "empty", policy: POLICY, environment: { ROWGATE_AUDIT: "on" } });
