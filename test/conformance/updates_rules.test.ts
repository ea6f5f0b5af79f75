import { assertEquals } from "@std/assert";
import { it } from "@std/testing/bdd";
import { assertMatched, assertOk, assertRejected } from "./assert_response.ts";
import { describeService } from "./describe_service.ts";

describeService("Updates, a rule that rejects", ({ query, single, bulk, run }) => {
  /** Makes a table of two rows whose rule lets no update through, and waits until it is found. */
  async function make(table: string): Promise<void> {
    await run(`create table ${table} (id int4 primary key, tenant_id int4 not null, a text);
      insert into ${table} values (1, 1, 'one'), (2, 1, 'two');
      create rule ${table}_keep as on update to ${table} do instead nothing;
      grant select, update (a) on ${table} to rowgate_app`);
    for (let attempt = 0; attempt < 30 && (await query(table)).status === 404; attempt++) {
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }

  it("responds with 409 without matched when a rule rejects the change of single [E37]", async () => {
    await make("ruled_single");
    const response = await single("ruled_single", { filters: { id: 1 }, fields: { a: "x" } });
    assertRejected(response, 409, /the database refused the change/i);
    assertEquals(await run("select a from ruled_single order by id"), [{ a: "one" }, { a: "two" }]);
  });

  it("still reports 0 and several matches under a rule [U38] [U40]", async () => {
    await make("ruled_matches");
    assertMatched(
      await single("ruled_matches", { filters: { id: 9 }, fields: { a: "x" } }),
      404,
      0,
    );
    assertMatched(
      await single("ruled_matches", { filters: { tenant_id: 1 }, fields: { a: "x" } }),
      409,
      2,
    );
  });

  it("responds to bulk with the number of rows that really changed under a rule [U42]", async () => {
    await make("ruled_bulk");
    const response = await bulk("ruled_bulk", { filters: { tenant_id: 1 }, fields: { a: "x" } });
    assertEquals(assertOk(response)["updated"], 0);
  });
});
