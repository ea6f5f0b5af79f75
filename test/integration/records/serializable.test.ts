import { assertEquals } from "@std/assert";
import { after, before, describe, it } from "@std/testing/bdd";
import { createTestService } from "../../support/service.ts";
import type { TestService } from "../../support/service.ts";
import { openSecondInstance, type SecondInstance } from "./second_instance.ts";

const WORKERS = 8;
const ROUNDS = 5;

describe("A database whose transactions are serializable by default", () => {
  let service: TestService;
  let instance: SecondInstance;

  before(async () => {
    service = await createTestService("real");
    await service.database.admin.unsafe(`
      do $$ begin execute format('alter database %I set default_transaction_isolation = serializable',
        current_database()); end $$`);
    instance = openSecondInstance(service.database, service.tokens.a);
  });
  after(async () => {
    await instance?.close();
    await service?.close();
  });

  function update(which: "single" | "bulk", filters: unknown, fields: unknown) {
    const path = `/integration/tables/deals/records/${which}`;
    return instance.send("PATCH", path, { body: { filters, fields } });
  }

  it("gives the same responses as any other, races included [CO17]", async () => {
    for (let round = 0; round < ROUNDS; round++) {
      await update("bulk", { fid: 50 }, { note: `round ${round}` });
      const responses = await Promise.all(
        Array.from(
          { length: WORKERS },
          (_, n) => update("single", { fid: 50, note: `round ${round}` }, { note: `won ${n}` }),
        ),
      );
      const outcomes = responses.map(({ status, body }) => `${status} ${body.matched}`).sort();
      assertEquals(outcomes, ["200 1", ...Array(WORKERS - 1).fill("404 0")]);
      const bulks = await Promise.all(
        Array.from(
          { length: WORKERS },
          (_, n) => update("bulk", { tenant_id: 1 }, { note: `all ${n}` }),
        ),
      );
      assertEquals(new Set(bulks.map(({ status }) => status)), new Set([200]));
    }
    const [row] = await service.database.admin`
      select count(distinct note)::int4 as notes from deals where tenant_id = 1`;
    assertEquals(row?.notes, 1);
  });
});
