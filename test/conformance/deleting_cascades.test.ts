import { assertEquals } from "@std/assert";
import { before, it } from "@std/testing/bdd";
import { assertMatched, assertOk, assertRejected } from "./assert_response.ts";
import { describeService } from "./describe_service.ts";

const SCHEMA = `
  create table orders (id int4 primary key, tenant_id int4 not null, ref text);
  create table lines (id int4 primary key, order_id int4 references orders on delete cascade);
  create table batches (id int4 primary key, tenant_id int4 not null,
    line_id int4 references lines on delete cascade);
  create table tags (order_id int4 references orders on delete cascade, tag text);

  create table trees (id int4 primary key, tenant_id int4 not null,
    parent_id int4, unique (tenant_id, id),
    foreign key (tenant_id, parent_id) references trees (tenant_id, id) on delete cascade);
  create table loose_trees (id int4 primary key, tenant_id int4 not null,
    parent_id int4 references loose_trees on delete cascade);

  create table noted_trees (id int4 primary key, tenant_id int4 not null,
    parent_id int4, unique (tenant_id, id),
    foreign key (tenant_id, parent_id) references noted_trees (tenant_id, id) on delete cascade);
  create table tree_notes (id int4 primary key, tenant_id int4 not null,
    tree_id int4 references noted_trees on delete cascade);

  create table rates (id int4 primary key, tenant_id int4 not null, name text);
  create table shared_rates (rate_id int4 references rates on delete cascade, name text);
  create table bills (id int4 primary key, tenant_id int4 not null);
  create table receipts (id int4 primary key, tenant_id int4 not null,
    bill_id int4 references bills on delete cascade);
  create table guarded (id int4 primary key, tenant_id int4 not null);
  create table guarded_notes (id int4 primary key, tenant_id int4 not null,
    guarded_id int4 references guarded on delete set null);
  alter table guarded_notes enable row level security;
  create policy all_rows on guarded_notes using (true);
  create table elsewhere (id int4 primary key, tenant_id int4 not null);
  create schema hidden;
  create table hidden.notes (tenant_id int4, elsewhere_id int4 references public.elsewhere on delete cascade);
  create table forerunners (id int4 primary key, tenant_id int4 not null);
  create table hidden.steps (id int4 primary key, forerunner_id int4 references public.forerunners on delete cascade);
  create table hidden.ends (step_id int4 references hidden.steps on delete cascade);
  create table secrets (id int4 primary key, tenant_id int4 not null);
  create table secret_notes (id int4 primary key, tenant_id int4 not null,
    secret_id int4 references secrets on delete set null);

  create table boxes (id int4 primary key, tenant_id int4 not null, name text);
  create table things (id int4 primary key, tenant_id int4 not null,
    box_id int4 default 9 references boxes on delete set default);
  create table loose_things (id int4 primary key, tenant_id int4 not null,
    box_id int4 references boxes on delete set default);

  create table parts (id int4, tenant_id int4 not null, primary key (id)) partition by range (id);
  create table parts_1 partition of parts for values from (0) to (100);
  create table uses (id int4, tenant_id int4 not null, part_id int4 references parts on delete cascade,
    primary key (id)) partition by range (id);
  create table uses_1 partition of uses for values from (0) to (100);

  create table checked (id int4 primary key, tenant_id int4 not null);
  create table checking (id int4 primary key, tenant_id int4 not null,
    checked_id int4 not null references checked on delete set null);
  grant select, update, delete on all tables in schema public to public;
  revoke select on secret_notes from public;`;

const POLICY = {
  tables: {
    lines: { tenant_via: { columns: ["order_id"], table: "orders" } },
    shared_rates: { shared: true },
    receipts: { delete: false },
  },
};

const REFERRED = "Other rows refer to a row that matches the filters; nothing was deleted";

describeService("Deletes over foreign keys", ({ service, remove, removeAll, get, run, kind }) => {
  let token = "";
  before(async () => {
    await run(SCHEMA);
    token = await service().issue({ scopes: ["delete", "query"] });
  });
  const one = (table: string, filters: object) => remove(table, { filters }, { token });
  const all = (table: string, filters: object) =>
    removeAll(table, { filters }, { token, headers: { prefer: "max-affected=10" } });
  const idsOf = async (table: string, column = "id") =>
    (await run(`select ${column} as id from public.${table} order by 1`)).map(({ id }) => id);

  it("deletes along a chain of keys, and rows of which nothing says whose they are [DE10] [DE11]", async () => {
    await run(`insert into orders values (1, 1, 'a'), (2, 1, 'a');
      insert into lines values (1, 1), (2, 2); insert into batches values (1, 1, 1), (2, 1, 2);
      insert into tags values (1, 'x'), (2, 'y')`);
    assertOk(await one("orders", { id: 1 }));
    assertEquals([await idsOf("lines"), await idsOf("batches")], [[2], [2]]);
    assertEquals(await idsOf("tags", "tag"), ["y"]);
  });

  it("deletes nothing if a row of another tenant is at the end of a chain [DE11] [TE28]", async () => {
    await run("insert into batches values (9, 2, 2)");
    assertRejected(await one("orders", { id: 2 }), 409, REFERRED);
    assertRejected(await all("orders", { ref: "a" }), 409, REFERRED);
    assertRejected(await one("lines", { id: 2 }), 409, REFERRED);
    assertEquals([await idsOf("lines"), await idsOf("batches")], [[2], [2, 9]]);
    await run("delete from batches where id = 9");
    assertEquals(assertOk(await all("orders", { ref: "a" }))["deleted"], 1);
  });

  it("deletes trees whose key has the tenant [DE11]", async () => {
    await run("insert into trees values (1, 1, null), (2, 1, 1), (3, 1, 2), (4, 1, null)");
    assertOk(await one("trees", { id: 1 }));
    assertEquals(await idsOf("trees"), [4]);
  });

  it("says which tables are not deletable because of what a delete would reach [DE12]", async () => {
    const { tables } = assertOk(await get("/integration/tables", { token }));
    const may = new Map(
      (tables as { name: string; deletable: boolean }[]).map((each) => [each.name, each.deletable]),
    );
    const open = ["orders", "lines", "trees", "rates", "boxes", "parts", "checked"];
    assertEquals(open.filter((name) => !may.get(name)), []);
    const closed = ["loose_trees", "noted_trees", "bills", "receipts", "elsewhere", "forerunners"];
    // The role of the embedded Postgres owns its tables.
    const restricted = kind === "embedded" ? [] : ["secrets", "guarded"];
    assertEquals([...closed, ...restricted].filter((name) => may.get(name)), []);
    await run("insert into bills values (1, 1)");
    assertRejected(await one("bills", { id: 1 }), 403, "has no records that can be deleted");
  });

  it("deletes no rows of shared tables [DE11]", async () => {
    await run(`insert into rates values (1, 1, 'a'), (2, 1, 'b');
      insert into shared_rates values (1, 'for all')`);
    assertRejected(await one("rates", { id: 1 }), 409, REFERRED);
    assertOk(await one("rates", { id: 2 }));
    assertEquals(await idsOf("shared_rates", "name"), ["for all"]);
    await run("delete from shared_rates");
  });

  it("obeys keys of partitioned tables [DE10] [DE11]", async () => {
    await run(`insert into parts values (1, 1), (2, 1);
      insert into uses values (1, 1, 1), (2, 2, 2)`);
    assertOk(await one("parts", { id: 1 }));
    assertRejected(await one("parts", { id: 2 }), 409, REFERRED);
    assertEquals([await idsOf("parts"), await idsOf("uses")], [[2], [2]]);
  });

  it("sets a default that is a row of the same tenant, or NULL, and none of another tenant [DE10] [DE11]", async () => {
    await run(
      `insert into boxes values (1, 1, 'a'), (2, 1, 'b'), (9, 1, 'default'), (3, 2, 'theirs');
      insert into things values (1, 1, 1); insert into loose_things values (1, 1, 1)`,
    );
    assertOk(await one("boxes", { id: 1 }));
    assertEquals(await run("select box_id from things"), [{ box_id: 9 }]);
    assertEquals(await run("select box_id from loose_things"), [{ box_id: null }]);
    await run(`update things set box_id = 2; update boxes set tenant_id = 2 where id = 9`);
    assertRejected(await one("boxes", { id: 2 }), 409, REFERRED);
    assertEquals(await run("select box_id from things"), [{ box_id: 2 }]);
    await run("delete from things; delete from boxes where tenant_id = 2");
  });

  it("is 409 where a row cannot be changed with the one that it refers to [DE10]", async () => {
    await run("insert into checked values (1, 1); insert into checking values (1, 1, 1)");
    assertRejected(await one("checked", { id: 1 }), 409, "The database refused the change");
    assertEquals(await idsOf("checked"), [1]);
    assertMatched(await one("checked", { id: 7 }), 404, 0);
  });
}, { template: "empty", policy: POLICY });
