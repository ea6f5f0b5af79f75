// What setup and tables print to be typed is executed, and nothing that it does not name is different then.
import { assert, assertEquals, assertMatch } from "@std/assert";
import { afterEach, beforeEach, describe, it } from "@std/testing/bdd";
import { createTestDatabase, type TestDatabase } from "../../support/database.ts";
import { compareDescriptions, describeDatabase } from "../../support/describe_database.ts";
import { runRowgate } from "./run_rowgate.ts";

describe("statements of setup and tables", () => {
  let test: TestDatabase;

  beforeEach(async () => {
    test = await createTestDatabase("real", "empty");
    await test.admin.unsafe(`
      create table people (id int4 primary key, tenant_id int4 not null, pay int4);
      create table pets (id int4 primary key, tenant_id int4 not null, name text);
      create table "odd""s" (id int4, tenant_id int4);
      create table countries (id int4 primary key);
      create table sessions (id int4, tenant_id int4);
      create view seniors as select * from people`);
  });
  afterEach(() => test.drop());

  const setUp = async () => {
    const { out } = await runRowgate(["setup", "--print"], { DATABASE_URL: test.url! });
    await test.admin.unsafe(out);
  };
  const readsOf = async (...names: string[]) => {
    const [row] = await test.admin`
      select array(select has_table_privilege('rowgate_app', name, 'select, update')
        from unnest(${names}::text[]) name) as rights`;
    return row!.rights;
  };
  const listTables = async () =>
    (await runRowgate(["tables"], { DATABASE_URL: test.servingUrl! })).out;

  it("setup gives a role that exists on the server its rights on a second database [R54]", async () => {
    const [role] = await test.admin`select 1 from pg_roles where rolname = 'rowgate_app'`;
    assert(role !== undefined, "the tests' cluster has the role");
    assertEquals(await readsOf("people", "pets"), [false, false]);
    await setUp();
    assertEquals(await readsOf("people", "pets"), [true, true]);
    const { out, code } = await runRowgate(["tables"], { DATABASE_URL: test.servingUrl! });
    assertEquals(code, 0);
    assertMatch(out, /^people +id +tenant_id +yes/m);
  });

  it("setup changes no right that the role has already, however often it runs [R54]", async () => {
    await test.admin.unsafe(
      "grant select (id, tenant_id), update (tenant_id) on people to rowgate_app",
    );
    await setUp();
    assertEquals(await readsOf("people", "pets"), [false, false]);
    const before = await describeDatabase(test.admin);
    await setUp();
    assertEquals(compareDescriptions(before, await describeDatabase(test.admin)), []);
  });

  it("setup leaves everything outside of its schema as it was, but for its rights [R54]", async () => {
    const before = await describeDatabase(test.admin);
    await setUp();
    const others = compareDescriptions(before, await describeDatabase(test.admin))
      .filter((line) => !/rowgate\./.test(line) && !/^\+ schema rowgate/.test(line));
    for (const line of others) assertMatch(line, /^[-+] (relation|schema) /);
    const strip = (sign: string) =>
      others.filter((line) => line.startsWith(sign))
        .map((line) =>
          line.slice(2).replace(/,?rowgate_app=\w+\/\w+/, "").split(/[ {]/).slice(0, 3).join()
        );
    assertEquals(strip("+"), strip("-"));
  });

  it("tables says what to type, which exposes the table and changes nothing else [R55]", async () => {
    await test.admin.unsafe("grant select on countries, seniors to rowgate_app");
    const before = await describeDatabase(test.admin);
    const out = await listTables();
    const typed = out.split("\n").filter((line) => line.startsWith("grant "));
    assertEquals(typed, [
      "grant select, update on public.people to rowgate_app;",
      "grant select, update on public.pets to rowgate_app;",
    ]);
    assert(
      out.includes('{"tables":{"countries":{"tenant_column":"…"}}}, or for all tenants to read:'),
    );
    assert(out.includes('{"tables":{"seniors":{"expose":true,"primary_key":["…"]}}}'));
    for (const statement of typed) await test.admin.unsafe(statement);
    const changed = compareDescriptions(before, await describeDatabase(test.admin));
    assertEquals(changed.map((line) => line.split(" ").slice(0, 3).join(" ")), [
      "- relation people",
      "- relation pets",
      "+ relation people",
      "+ relation pets",
    ]);
    assertMatch(
      await listTables(),
      /^people +id +tenant_id +yes +no\npets +id +tenant_id +yes +no$/m,
    );
  });

  it("tables names the right to the schema where the role lacks it [R55]", async () => {
    await test.admin.unsafe(`create schema "Sales data";
      create table "Sales data".deals (id int4 primary key, tenant_id int4 not null, n int4)`);
    const environment = { DATABASE_URL: test.servingUrl!, ROWGATE_SCHEMA: "Sales data" };
    for (let step = 0; step < 2; step++) {
      const { out } = await runRowgate(["tables"], environment);
      const [statement] = out.split("\n").filter((line) => line.startsWith("grant "));
      await test.admin.unsafe(statement!);
    }
    const { out } = await runRowgate(["tables"], environment);
    assertMatch(out, /^deals +id +tenant_id +yes/m);
    assert(!out.includes("NOT EXPOSED"));
  });
});
