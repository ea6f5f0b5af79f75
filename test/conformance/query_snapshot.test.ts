import { assertEquals } from "@std/assert";
import { it } from "@std/testing/bdd";
import { assertOk } from "./assert_response.ts";
import { describeSharedService } from "./describe_service.ts";

describeSharedService("Query, one snapshot", ({ query, run }) => {
  it("reports total and records of one snapshot while the rows are being replaced [Q87] [CO11]", async () => {
    // Each generation replaces all rows in one transaction: 3 rows in odd ones, 7 in even ones.
    let replacing = true;
    const replace = (async () => {
      for (let generation = 1; replacing; generation++) {
        const rows = generation % 2 ? 3 : 7;
        await run(`do $$ begin
          delete from events_log where tenant_id = 1;
          insert into events_log
            select 1, 'generation', ${generation}, now() from generate_series(1, ${rows});
        end $$`);
      }
    })();
    const filters = { and: [{ field: "kind", op: "eq", value: "generation" }] };
    const seen = new Set<unknown>();
    try {
      for (let asked = 0; asked < 2000 && seen.size < 20; asked++) {
        const body = assertOk(
          await query("events_log", { filters, per_page: 2, page: 1 + asked % 2 }),
        );
        const generations = new Set(
          (body["records"] as { amount: number }[]).map(({ amount }) => amount),
        );
        if (generations.size === 0) continue;
        assertEquals(generations.size, 1);
        const [generation = 0] = generations;
        assertEquals(body["total"], generation % 2 ? 3 : 7);
        seen.add(generation);
      }
    } finally {
      replacing = false;
      await replace;
    }
    assertEquals(seen.size >= 5, true, `only ${seen.size} generations were seen`);
  });
}, { writes: "rows" });
