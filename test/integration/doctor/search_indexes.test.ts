import { assert, assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { createTestDatabase } from "../../support/database.ts";
import { examineDatabase, findingsOf } from "./examine_database.ts";

describe("doctor on indexes for searches", () => {
  it("names those of a large table, which it then finds; a small one needs none [Q109] [R53]", async () => {
    const test = await createTestDatabase("real", "empty");
    try {
      const columns = `tenant_id int4 not null, name text, code varchar(9), tags text[], doc jsonb,
        during tstzrange, pay numeric`;
      await test.admin.unsafe(`create table large (id int4 primary key, ${columns});
        create table small (id int4 primary key, ${columns});
        insert into large select n, n % 2, 'n' from generate_series(1, 50) n;
        insert into small select * from large;
        create index on large (tenant_id); create index on small (tenant_id);
        analyze large, small;
        update pg_class set reltuples = 1000000 where relname = 'large';
        grant select, update on large, small to rowgate_app`);
      const check = "indexes for searches";
      const found = await examineDatabase(test);
      assertEquals(findingsOf(found, check), [
        "warning: no index of large serves starts_with and ilike or contains on name, code, tags, doc, during",
      ]);
      const [{ fix, why } = { fix: "", why: "" }] = found.get(check)!.findings;
      assert(why.includes("500,000"), why);
      const statements = fix.split("\n").filter((line) => !line.startsWith("--"));
      assertEquals(statements.length, 5);
      for (const statement of statements) await test.admin.unsafe(statement);
      await test.admin`update pg_class set reltuples = 1000000 where relname = 'large'`;
      assertEquals(findingsOf(await examineDatabase(test), check), []);
      await test.admin`set enable_seqscan = off`;
      const rows = await test.admin.unsafe(
        "explain select from large where tenant_id = 1 and starts_with(code::text, 'n')",
      );
      assert(
        rows.some((row) => /large_tenant_id_code_idx/.test(row["QUERY PLAN"])),
        JSON.stringify(rows),
      );
    } finally {
      await test.drop();
    }
  });
});
