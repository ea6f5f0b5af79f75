// What setup and tables print to be typed is executed, and nothing that it does not name is different then.
import { assert, assertEquals, assertMatch } from "@std/assert";
import { afterEach, beforeEach, describe, it } from "@std/testing/bdd";
import { runPrinted } from "../../support/run_printed.ts";
import { createTestDatabase, type TestDatabase } from "../../support/database.ts";
import { compareDescriptions, describeDatabase } from "../../support/describe_database.ts";
import { run } from "../schemas/follow_page.ts";
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
    await runPrinted(test.admin, out);
  };
  const readsOf = async (...names: string[]) => {
    const [row] = await test.admin`
      select array(select has_table_privilege('rowgate_app', name, 'select, update')
        from unnest(${names}::text[]) name) as rights`;
    return row!.rights;
  };
  const listTables = async () =>
    (await runRowgate(["tables"], { DATABASE_URL: test.servingUrl! })).out;
  const runWith = (policy: object) =>
    run(["tables"], { environment: { DATABASE_URL: test.servingUrl! }, policy });

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
    for (
      const entry of [
        '{"tables":{"countries":{"tenant_column":"…"}}}    -- if a column names the tenant',
        '{"tables":{"countries":{"shared":true}}}    -- if all tenants may read it',
        '{"tables":{"seniors":{"expose":true,"primary_key":["…"]}}}',
      ]
    ) assert(out.split("\n").includes(entry), `${entry}\n${out}`);
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

  it("tables names the foreign keys that lead to a tenant, which expose the table as printed [R55] [T57]", async () => {
    await test.admin.unsafe(`
      create table visits (id int4 primary key, pet int4 not null references pets, host int4 references people,
        country int4 references countries, next int4 references visits);
      create table bills (visit int4 primary key references visits, paid bool);
      alter table countries add visited int4 references bills;
      create view totals as select count(*) from bills;
      create materialized view kept as select * from bills;
      grant select, update on people, pets, visits, bills, countries, totals, kept to rowgate_app`);
    const via = (column: string, table: string) =>
      `{"tenant_via":{"columns":["${column}"],"table":"${table}"}}`;
    const entriesOf = (out: string, table: string) =>
      out.split("\n").filter((line) => line.startsWith(`{"tables":{"${table}":`))
        .map((line) =>
          line.slice(`{"tables":{"${table}":`.length).replace(/\}\}(?: {4}-- .*)?$/, "")
        );
    const out = await listTables();
    // Not over itself, nor over a table whose own tenant would be found over this one.
    assertEquals(entriesOf(out, "visits"), [
      via("pet", "pets"),
      via("host", "people"),
      '{"shared":true}',
    ]);
    assertEquals(entriesOf(out, "bills"), [via("visit", "visits"), '{"shared":true}']);
    assertEquals(entriesOf(out, "countries"), [via("visited", "bills"), '{"shared":true}']);
    assertMatch(out, /^totals +view that the policy does not expose$/m);
    assertMatch(out, /^kept +materialised view that the policy does not expose$/m);
    const policy = {
      tables: {
        visits: { tenant_via: { columns: ["pet"], table: "pets" } },
        bills: { tenant_via: { columns: ["visit"], table: "visits" } },
        countries: { tenant_via: { columns: ["visited"], table: "bills" } },
      },
    };
    const { out: exposed } = await runWith(policy);
    assertMatch(exposed, /^bills +visit +visits\.pets\.tenant_id +yes/m);
    assertMatch(exposed, /^countries +id +bills\.visits\.pets\.tenant_id /m);
  });

  it("tables says what in the policy keeps a table closed [R55] [T58]", async () => {
    await test.admin.unsafe(`
      create table visits (id int4 primary key, pet int4 not null references pets);
      grant select on people, pets, visits, countries to rowgate_app`);
    const field = { field: "payed", op: "is_null" };
    const { out } = await runWith({
      tables: {
        visits: { tenant_via: { columns: ["id"], table: "pets" } },
        people: { only: { and: [field] } },
        countries: { tenant_column: "land" },
      },
    });
    const reasons = /^NOT EXPOSED.*\n([^]*?)\n\n/m.exec(out)![1]!.split("\n");
    for (
      const [table, why] of [
        [
          "visits",
          'tables.visits.tenant_via: no foreign key of "visits" refers from "id" to "pets"',
        ],
        ["people", 'tables.people.only: there is no column "payed" that the role may read'],
        ["countries", 'tables.countries: there is no tenant column "land"'],
      ]
    ) {
      const line = reasons.find((each) => each.startsWith(`${table} `))!;
      assertEquals(line.split(/ {2,}/)[1], `policy: ${why}`);
    }
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
