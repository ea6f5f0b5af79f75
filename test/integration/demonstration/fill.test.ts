import { assert, assertEquals, assertRejects } from "@std/assert";
import { after, before, describe, it } from "@std/testing/bdd";
import type { Config } from "../../../src/server/config/config.ts";
import { openDatabase } from "../../../src/database/postgres/open_database.ts";
import type { Compile, Database } from "../../../src/database/postgres/database.ts";
import { openEmbedded } from "../../../src/database/embedded/embedded_postgres.ts";
import { fillDemonstration } from "../../../src/cli/demonstration/fill.ts";
import { SHOPS } from "../../../src/cli/demonstration/shops.ts";
import { embeddedTemplate } from "../../support/shared_databases.ts";

const CONFIG = {
  databaseUrl: undefined,
  poolWaitMs: 5000,
  statementTimeoutMs: 30_000,
  prepare: true,
} as Config;

describe("fillDemonstration", () => {
  let database: Database;

  before(async () => {
    const embedded = await openEmbedded({ load: await embeddedTemplate("empty") });
    database = openDatabase(CONFIG, () => {}, { embedded });
  });
  after(() => database.close(1000));

  function read(compile: Compile): Promise<Record<string, unknown>[]> {
    return database.run(compile, { write: false });
  }

  it("leaves nothing behind when it is stopped half-way [R4]", async () => {
    const stopped: Database = {
      ...database,
      transact: (statements, options) =>
        database.transact(
          [...statements.slice(0, -5), (sql) => sql`select 1 / 0`],
          options,
        ),
    };
    await assertRejects(() => fillDemonstration(stopped));
    const [found] = await read((sql) =>
      sql`select count(*)::text n from pg_class where relnamespace = 'public'::regnamespace`
    );
    assertEquals(found?.n, "0");
  });

  it("leaves nothing behind when the start is ended in the middle [R4]", async () => {
    const ending = new AbortController();
    const reported: string[] = [];
    const report = (table: string) => {
      reported.push(table);
      if (table === "orders") ending.abort();
    };
    await assertRejects(() => fillDemonstration(database, { report, signal: ending.signal }));
    assertEquals(reported, ["customers", "products", "orders"]);
    const [found] = await read((sql) =>
      sql`select count(*)::text n from pg_class where relnamespace = 'public'::regnamespace`
    );
    assertEquals(found?.n, "0");
  });

  it("fills two tenants with some thousands of rows, and reports its steps [R4]", async () => {
    const reported: string[] = [];
    assertEquals(
      await fillDemonstration(database, { report: (table) => reported.push(table) }),
      true,
    );
    assertEquals(reported, ["customers", "products", "orders", "order_lines", "user_passwords"]);
    const rows = await read((sql) =>
      sql`select tenant_id, count(*)::text orders, count(distinct status)::text statuses
        from orders group by 1 order by 1`
    );
    assertEquals(rows.map((row) => row.tenant_id), SHOPS.map(({ tenant }) => tenant));
    assertEquals(rows.map((row) => row.orders), ["1500", "1000"]);
    assert(rows.every((row) => Number(row.statuses) >= 5));
  });

  it("leaves the data as it is on a second call [R3]", async () => {
    await database.run((sql) => sql`update products set stock = 4711 where id = 1`, {
      write: true,
    });
    assertEquals(await fillDemonstration(database), false);
    const [row] = await read((sql) => sql`select stock::text from products where id = 1`);
    assertEquals(row?.stock, "4711");
  });

  it("has totals that add up in numeric", async () => {
    const rows = await read((sql) =>
      sql`select o.id::text from orders o
        where total is distinct from
          (select sum(amount) from order_lines l where l.order_id = o.id)`
    );
    assertEquals(rows.length, 0);
  });

  it("has a trigger that gives each row of a statement its own modification time", async () => {
    await database.run(
      (sql) => sql`update orders set note = 'checked' where id between 1 and 20`,
      { write: true },
    );
    const [row] = await read((sql) =>
      sql`select count(distinct modified_at)::text times, (min(modified_at) > now() - interval '1 hour')::text late
        from orders where id between 1 and 20`
    );
    assertEquals({ ...row }, { times: "20", late: "true" });
  });

  it("rejects a line that refers to another tenant's product", async () => {
    await assertRejects(() =>
      database.run(
        (sql) => sql`update order_lines set product_id = 100001 where order_id = 1 and line_no = 1`,
        { write: true },
      )
    );
  });

  it("comments on every table", async () => {
    const rows = await read((sql) =>
      sql`select relname::text from pg_class
        where relnamespace = 'public'::regnamespace and relkind = 'r'
          and obj_description(oid, 'pg_class') is null`
    );
    assertEquals(rows.length, 0);
  });
});
