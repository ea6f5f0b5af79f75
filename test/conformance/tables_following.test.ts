import { assert, assertEquals } from "@std/assert";
import { before, it } from "@std/testing/bdd";
import type { ReceivedResponse } from "../support/service.ts";
import { assertOk, assertRejected, assertRejectedAt, recordsOf } from "./assert_response.ts";
import { describeService } from "./describe_service.ts";

/** Repeats a request until the response is as wanted; an unknown name reloads at most once a second. */
async function eventually(
  send: () => Promise<ReceivedResponse>,
  wanted: (response: ReceivedResponse) => boolean,
): Promise<ReceivedResponse> {
  let response = await send();
  for (let attempt = 0; attempt < 300 && !wanted(response); attempt++) {
    await new Promise((resolve) => setTimeout(resolve, 100));
    response = await send();
  }
  return response;
}

const found = (response: ReceivedResponse) => response.status === 200;

/** The tables that tests change. */
const ALTERED = [
  "f_dropped",
  "f_gone_single",
  "f_gone_bulk",
  "f_old",
  "f_anew",
  "f_column",
  "f_less",
  "f_less_single",
  "f_less_bulk",
  "f_renamed",
  "f_retyped",
  "f_retyped_single",
  "f_retyped_bulk",
  "f_untenanted",
  "f_notified",
  "f_revoked",
];

/** Returns the SQL that makes a table of three rows of tenant 1 and one of tenant 2. */
function createTable(name: string): string {
  return `create table ${name} (id int4 primary key, tenant_id int4 not null, a int4, b text);
    insert into ${name} values (1, 1, 10, 'one'), (2, 1, 20, 'two'), (3, 1, 30, '40'), (4, 2, 10, 'CANARY');
    grant select, update (a, b) on ${name} to rowgate_app`;
}

describeService("Tables, following the database", ({ kind, query, single, bulk, run }) => {
  // Made at once: an unknown name has the catalogue read again at most once a second.
  before(async () => {
    await run(ALTERED.map(createTable).join(";"));
    for (const name of ALTERED) assertOk(await eventually(() => query(name), found));
  });

  /** Asks a table often enough that its statements are prepared: Postgres keeps a plan from the sixth on. */
  async function prepare(name: string): Promise<void> {
    for (let time = 0; time < 6; time++) {
      assertOk(await query(name));
      assertOk(await query(name, { filters: { and: [{ field: "a", op: "gte", value: 10 }] } }));
      assertOk(await single(name, { filters: { id: 1 }, fields: { a: 10 } }));
      assertOk(await bulk(name, { filters: { b: "none" }, fields: { a: 10 } }));
    }
  }

  it("finds a table that was added [T39]", async () => {
    await run(createTable("f_added"));
    assertOk(await eventually(() => query("f_added"), found));
    await prepare("f_added");
    assertEquals(assertOk(await query("f_added"))["total"], 3);
  });

  it("no longer finds a table that was dropped [T40]", async () => {
    await prepare("f_dropped");
    await run("drop table f_dropped");
    assertRejected(await query("f_dropped"), 404, /not found/i);
    assertRejected(
      await single("f_dropped", { filters: { id: 1 }, fields: { a: 1 } }),
      404,
      /not found/i,
    );
    assertRejected(
      await bulk("f_dropped", { filters: { id: 1 }, fields: { a: 1 } }),
      404,
      /not found/i,
    );
  });

  for (const operation of ["single", "bulk"] as const) {
    it(`responds with 404 when a dropped table is first met by ${operation} [T40]`, async () => {
      await prepare(`f_gone_${operation}`);
      await run(`drop table f_gone_${operation}`);
      const body = { filters: { id: 1 }, fields: { a: 11 } };
      assertRejected(
        await { single, bulk }[operation](`f_gone_${operation}`, body),
        404,
        /not found/i,
      );
    });
  }

  it("follows a table that was renamed [T42]", async () => {
    await prepare("f_old");
    await run("alter table f_old rename to f_new");
    assertRejected(await query("f_old"), 404);
    assertEquals(assertOk(await eventually(() => query("f_new"), found))["total"], 3);
  });

  it("follows a table that was dropped and created again with other columns [T42]", async () => {
    await prepare("f_anew");
    await run(
      `drop table f_anew; create table f_anew (key text primary key, tenant_id int4 not null, a text);
      insert into f_anew values ('k', 1, 'text'); grant select, update (a) on f_anew to rowgate_app`,
    );
    assertEquals(recordsOf(await query("f_anew")), [{ key: "k", tenant_id: 1, a: "text" }]);
    assertOk(await single("f_anew", { filters: { key: "k" }, fields: { a: "new" } }));
  });

  it("finds a column that was added when it is named [T39]", async () => {
    await prepare("f_column");
    await run(
      "alter table f_column add column c bool default true; grant update (c) on f_column to rowgate_app",
    );
    const filters = { and: [{ field: "c", op: "eq", value: true }] };
    assertEquals(
      assertOk(await eventually(() => query("f_column", { filters }), found))["total"],
      3,
    );
    assertOk(await single("f_column", { filters: { id: 1, c: true }, fields: { c: false } }));
    assertEquals((await run("select id from f_column where not c")).map((row) => row["id"]), [1]);
  });

  it("responds without a column that was dropped, and rejects its name [T42] [T40]", async () => {
    await prepare("f_less");
    await run("alter table f_less drop column a");
    assertEquals(recordsOf(await query("f_less", { sort: [{ field: "id" }] }))[0], {
      id: 1,
      tenant_id: 1,
      b: "one",
    });
    assertRejectedAt(await query("f_less", { select: ["a"] }), "select[0]", '"a"');
    assertRejectedAt(
      await bulk("f_less", { filters: { id: 1 }, fields: { a: 1 } }),
      "fields.a",
      '"a"',
    );
  });

  for (const operation of ["single", "bulk"] as const) {
    it(`rejects a dropped column that is first met by ${operation} [T40]`, async () => {
      const table = `f_less_${operation}`;
      await prepare(table);
      await run(`alter table ${table} drop column a`);
      const response = await { single, bulk }[operation](table, {
        filters: { id: 1 },
        fields: { a: 11 },
      });
      assertRejectedAt(response, "fields.a", '"a"');
    });
  }

  it("follows a column that was renamed [T42]", async () => {
    await prepare("f_renamed");
    await run("alter table f_renamed rename column a to z");
    const [record] = recordsOf(await query("f_renamed", { sort: [{ field: "id" }] }));
    assertEquals(record, { id: 1, tenant_id: 1, z: 10, b: "one" });
    assertOk(await single("f_renamed", { filters: { z: 10 }, fields: { z: 11 } }));
  });

  it("follows a column whose type was changed, in filters and fields [T42]", async () => {
    await prepare("f_retyped");
    await run("alter table f_retyped alter column a type text using a::text");
    const filters = { and: [{ field: "a", op: "eq", value: 10 }] };
    assertEquals(recordsOf(await query("f_retyped", { filters })), [{
      id: 1,
      tenant_id: 1,
      a: "10",
      b: "one",
    }]);
    assertOk(await single("f_retyped", { filters: { a: "10" }, fields: { a: "ten" } }));
    assertEquals(
      assertOk(
        await bulk("f_retyped", { filters: { a: "20" }, fields: { a: "twenty" } }),
      )["updated"],
      1,
    );
  });

  for (const operation of ["single", "bulk"] as const) {
    it(`follows a changed type that is first met by ${operation} [T42]`, async () => {
      const table = `f_retyped_${operation}`;
      await prepare(table);
      await run(`alter table ${table} alter column a type text using a::text`);
      assertOk(await { single, bulk }[operation](table, { filters: { a: 10 }, fields: { a: 12 } }));
      assertEquals(await run(`select a from ${table} where id = 1`), [{ a: "12" }]);
    });
  }

  it("shows no rows when the tenant column is dropped [S9] [S10] [T40]", async () => {
    await prepare("f_untenanted");
    await run("alter table f_untenanted drop column tenant_id");
    assertRejected(await query("f_untenanted"), 404);
    assertRejected(await bulk("f_untenanted", { filters: { a: 10 }, fields: { a: 99 } }), 404);
    assertEquals((await run("select 1 from f_untenanted where a = 99")).length, 0);
  });

  // An embedded database has one session, so no other can send a NOTIFY.
  if (kind === "real") {
    it("reads the catalogue again after a NOTIFY [T38]", async () => {
      await prepare("f_notified");
      await run("alter table f_notified add column c int4 default 5; notify rowgate_catalogue");
      const response = await eventually(
        () => query("f_notified"),
        (given) => given.text.includes('"c"'),
      );
      assert(response.text.includes('"c"'), response.text);
    });

    it("no longer finds a table once the right to select is taken away [T6] [T40]", async () => {
      await prepare("f_revoked");
      await run("revoke select on f_revoked from rowgate_app");
      assertRejected(await query("f_revoked"), 404, /not found/i);
    });
  }
});
