import { assertEquals } from "@std/assert";
import { after, before, describe, it } from "@std/testing/bdd";
import { createTestDatabase, DATABASE_KINDS, type TestDatabase } from "../../support/database.ts";
import { examineDatabase, findingsOf } from "./examine_database.ts";
import { readFix } from "./read_fix.ts";

for (const kind of DATABASE_KINDS) {
  describe(`doctor on tenants that no token can name (${kind})`, () => {
    let test: TestDatabase;
    const columns = { tenant_columns: ["firm", "site"] };
    const policy = { tables: { houses: columns, halls: columns } };

    before(async () => {
      test = await createTestDatabase(kind, "empty");
      await test.admin.unsafe(`
        create table houses (firm int4 not null, site text not null, no int4, primary key (firm, site, no));
        create table halls (firm text not null, site char(3) not null, no int4, primary key (firm, site, no));
        insert into houses values (1, '', 1), (1, 'a/b', 1), (1, 'n', 1), (2, 's', 1), (2, 'z/', 1);
        insert into halls values ('/', 'a', 1), ('f', '', 1), ('f', 'a', 1), ('g', 'b', 1);
        grant select, update on houses, halls to public`);
    });
    after(() => test.drop());

    it("names the rows, and probes tenants that tokens can have [T72] [R53]", async () => {
      const found = await examineDatabase(test, { policy });
      assertEquals(findingsOf(found, "isolation"), []);
      assertEquals(found.get("isolation")!.seen, "2 tables probed from both sides");
      const { findings } = found.get("rows without tenant")!;
      assertEquals(findings.map(({ id, what }) => [id, what]), [
        ["unnameable_tenant:halls", 'halls has rows whose firm or site is empty or has a "/"'],
        ["unnameable_tenant:houses", 'houses has rows whose site is empty or has a "/"'],
      ]);
      const counts = [];
      for (const { kind, text } of findings.flatMap(({ fix }) => readFix(fix))) {
        assertEquals(kind, "statement");
        const rows = await test.admin.unsafe(text);
        counts.push(rows.length);
        await test.admin.unsafe(text.replace("select *", "delete"));
      }
      assertEquals(counts, [2, 3]);
      assertEquals(
        findingsOf(await examineDatabase(test, { policy }), "rows without tenant"),
        [],
      );
    });
  });
}
