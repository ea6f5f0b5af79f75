// What the command prints and does on a database of which several schemas are exposed.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { after, before, describe, it } from "@std/testing/bdd";
import { runPrinted } from "../../support/run_printed.ts";
import { createTestDatabase, type TestDatabase } from "../../support/database.ts";
import { runLines } from "../../support/run_printed.ts";
import { compareDescriptions, describeDatabase } from "../../support/describe_database.ts";
import { examineDatabase, findingsOf } from "../doctor/examine_database.ts";
import { runRowgate, startRowgate } from "./run_rowgate.ts";

const SCHEMA = `
create schema sales;
create table customers (tenant_id int4, id int4 primary key, email text unique);
create table sales.orders (tenant_id int4 not null, id int4 primary key,
  customer_id int4 references customers);
create table sales.customers (tenant_id int4 not null, id int4 primary key);
create table sales."zwei Wörter" (tenant_id int4 not null, id int4 primary key, "x y" int4);
create table sales.lines (order_id int4 references sales.orders, n int4, primary key (order_id, n));
insert into customers values (1, 1, 'a'), (2, 2, 'b');
insert into sales.orders values (1, 1, 1), (2, 2, 1);`;
const POLICY = {
  tables: {
    "sales.customers": { name: "buyers" },
    "sales.lines": { tenant_via: { columns: ["order_id"], table: "sales.orders" } },
  },
};

describe("rowgate on several schemas", () => {
  let test: TestDatabase;
  let folder: string;
  let policyFile: string;
  const ROWGATE_SCHEMA = "public,sales";
  const run = (args: readonly string[], more: Record<string, string> = {}) =>
    runRowgate(args, {
      DATABASE_URL: test.url!,
      ROWGATE_SCHEMA,
      ROWGATE_POLICY: policyFile,
      ...more,
    });

  before(async () => {
    test = await createTestDatabase("real", "empty");
    await test.admin.unsafe(SCHEMA);
    folder = await mkdtemp(join(tmpdir(), "rowgate-schemas-"));
    policyFile = join(folder, "policy.json");
    await writeFile(policyFile, JSON.stringify(POLICY));
  });
  after(async () => {
    await rm(folder, { recursive: true });
    await test.drop();
  });

  it("setup prints the rights on each, which tables then finds [R34] [R55] [T73]", async () => {
    const hidden = await run(["tables"], { DATABASE_URL: test.servingUrl! });
    assertMatch(hidden.out, /^sales_orders +the database role may not use the schema$/m);
    assertStringIncludes(hidden.out, 'grant usage on schema "sales" to rowgate_app;');
    await runPrinted(test.admin, (await run(["setup", "--print"])).out);
    const { out } = await run(["tables"], { DATABASE_URL: test.servingUrl! });
    for (
      const line of [
        /^customers +id +tenant_id +yes/m,
        /^sales_orders +id +tenant_id +yes/m,
        /^buyers +id +tenant_id +no/m,
        /^sales_lines +order_id, n +sales_orders\.tenant_id +no/m,
        /^sales_zwei Wörter +its name has characters other than/m,
      ]
    ) assertMatch(out, line);
    assertStringIncludes(out, '{"tables":{"sales.zwei Wörter":{"name":"sales_zwei_W_rter"}}}');
  });

  it("doctor finds what crosses them; its statements mend that and nothing else [CF21] [R54]", async () => {
    const options = { environment: { ROWGATE_SCHEMA }, policy: POLICY };
    const found = await examineDatabase(test, options);
    assertEquals(findingsOf(found, "exposed tables"), []);
    assertEquals(found.get("exposed tables")!.seen, "4 tables of the schemas public, sales");
    const [order] = found.get("foreign keys")!.findings;
    assertMatch(order!.what, /^rows of sales_orders refer to rows of customers that belong to/);
    assertMatch(order!.fix, /^select a\.\* from "sales"\."orders" a join "public"\."customers" b/);
    const before = await describeDatabase(test.admin);
    await test.admin`update sales.orders set customer_id = 2 where id = 2`;
    for (const check of ["rows without tenant", "indexes by tenant", "tenants over foreign keys"]) {
      for (const { fix } of found.get(check)!.findings) await runLines(test.admin, fix);
    }
    for (const { fix } of (await examineDatabase(test, options)).get("foreign keys")!.findings) {
      await runLines(test.admin, fix);
    }
    const [unique] = found.get("unique keys")!.findings;
    assertStringIncludes(unique!.fix, '{"tables":{"customers":{"read_only_columns":["email"]}}}');
    const mended = await examineDatabase(test, options);
    for (
      const check of [
        "foreign keys",
        "rows without tenant",
        "indexes by tenant",
        "tenants over foreign keys",
        "isolation",
      ]
    ) {
      assertEquals(
        findingsOf(mended, check),
        [],
        check,
      );
    }
    const changed = compareDescriptions(before, await describeDatabase(test.admin))
      .filter((line) => !/^. (index|relation \S+ i |column \S+(_by_tenant_|_idx))/.test(line));
    for (const line of changed) {
      assertMatch(line, /customers tenant_id|customers_tenant_id|orders_customer_id|lines/);
    }
  });

  it("changes takes the names of clients, and tokens too [CH2] [A28] [T73]", async () => {
    const names = ["sales_orders", "buyers"];
    assertEquals((await run(["changes", "enable", ...names])).code, 0);
    const again = await run(["changes", "enable", "buyers"]);
    assertEquals(again.err, "The feed of buyers is enabled already.\n");
    const { out, code } = await run(["changes", "status"]);
    assertMatch(out, /^buyers +complete +id /m);
    assertMatch(out, /^sales_orders +complete +id /m);
    assertEquals(code, 0);
    assertEquals((await run(["changes", "disable", "buyers"])).code, 0);
    const token = (table: string) => run(["token", "create", "--tenant", "1", "--tables", table]);
    assertEquals((await token("sales_orders")).code, 0);
    const wrong = await token("sales_ordrs");
    assertEquals(wrong.code === 0, false);
    assertMatch(wrong.err, /there is no table "sales_ordrs", did you mean "sales_orders"/);
  });

  it("two tables of one name stop the start, and every command that reads them [T75]", async () => {
    await test.admin`create table sales_orders (tenant_id int4 not null, id int4 primary key)`;
    const said =
      /^rowgate: two tables are called "sales_orders": "public"\."sales_orders" and "sales"\."orders"; give one of them another name in the policy: \{"tables":\{"sales\.orders":/;
    for (const args of [["serve"], ["tables"], ["doctor"]]) {
      const { code, err, out } = await run(args, { PORT: "0" });
      assertEquals(code, 1, args.join(" "));
      assertMatch(err, said, args.join(" "));
      assert(!out.includes("listening"));
    }
    await writeFile(
      policyFile,
      JSON.stringify({ tables: { "sales.orders": { name: "orders" }, sales_orders: {} } }),
    );
    const { out } = await run(["tables"]);
    assertMatch(out, /^orders /m);
    assertMatch(out, /^sales_orders /m);
  });

  it("a name that is given twice while a server runs is withdrawn, and the log says so [T75]", async () => {
    await test.admin`drop table sales_orders`;
    await writeFile(
      policyFile,
      JSON.stringify({ tables: { customers: { name: "people" } } }),
    );
    const { out: token } = await run(["token", "create", "--tenant", "1"]);
    const server = startRowgate(["serve"], {
      DATABASE_URL: test.url!,
      ROWGATE_SCHEMA,
      ROWGATE_POLICY: policyFile,
      PORT: "0",
    });
    const [, address] = await server.see("out", /"listening","address":"([^"]+)"/);
    const ask = async () => {
      const response = await fetch(`${address}/integration/tables/people/query`, {
        method: "POST",
        body: "{}",
        headers: { "authorization": `Bearer ${token.trim()}`, "content-type": "application/json" },
      });
      await response.body?.cancel();
      return response.status;
    };
    assertEquals(await ask(), 200);
    await test.admin.unsafe(`create table people (tenant_id int4 not null, id int4 primary key);
      notify rowgate_catalogue`);
    await server.see("out", /two tables are called \\"people\\"/);
    assertEquals(await ask(), 404);
    server.send("SIGTERM");
    assertEquals(await server.ended, 0);
  });
});
