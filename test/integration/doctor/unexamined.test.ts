import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { after, before, describe, it } from "@std/testing/bdd";
import { createTestDatabase, type TestDatabase } from "../../support/database.ts";
import { examineDatabase, findingsOf } from "./examine_database.ts";

const SCHEMA = `
create function broken(n int4) returns int4 language plpgsql as $$ begin
  raise exception 'SECRET' using errcode = 'XX000'; end $$;
create table parents (id int4 primary key, tenant_id int4, name text);
create table orders (id int4 primary key, tenant_id int4, parent_id int4 references parents);
insert into parents select n, n % 2, 'p' from generate_series(1, 4) n;
insert into orders select n, n % 2, 5 - n from generate_series(1, 4) n;
create materialized view early_totals as select tenant_id, count(*) as n from orders group by 1
  with no data;
create view broken_orders as select id, tenant_id, broken(id) as n from orders where broken(id) > 0;
grant select on parents, orders, early_totals, broken_orders to rowgate_app`;
const EXPOSED = { expose: true };
const POLICY = { tables: { early_totals: EXPOSED, broken_orders: EXPOSED } };

describe("doctor over tables that cannot be read", () => {
  let test: TestDatabase;

  before(async () => {
    test = await createTestDatabase("real", "empty");
    await test.admin.unsafe(SCHEMA);
  });
  after(() => test?.drop());

  it("continues after a materialized view without data and a view that fails, and reports each [R67]", async () => {
    const found = await examineDatabase(test, { policy: POLICY });
    const isolation = found.get("isolation")!;
    assertEquals(
      isolation.seen.startsWith("2 tables probed from both sides"),
      true,
      isolation.seen,
    );
    const [broken, early] = findingsOf(found, "isolation");
    assertEquals(
      broken,
      "warning: broken_orders could not be examined: the database refused the query (XX000)",
    );
    assertStringIncludes(
      early!,
      "warning: early_totals could not be examined: the table cannot be read yet",
    );
    assert(isolation.findings[1]!.fix.includes("refresh materialized view"));
    // The checks after it are made, and find what there is.
    assertEquals(findingsOf(found, "rows without tenant").length, 2);
    assertEquals(findingsOf(found, "foreign keys").length, 1);
    await test.admin`refresh materialized view early_totals`;
    const again = await examineDatabase(test, { policy: POLICY });
    assertEquals(findingsOf(again, "isolation").length, 1);
  });
});
