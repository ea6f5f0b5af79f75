import { assertEquals } from "@std/assert";
import { it } from "@std/testing/bdd";
import { assertOk, assertRejected } from "./assert_response.ts";
import { describeService } from "./describe_service.ts";

const POLICY = { tables: { far: { expose: true } } };

describeService("Tables, foreign tables", ({ query, get, run }) => {
  it("exposes a foreign table by the policy alone [T9]", async () => {
    await run(
      `create foreign data wrapper nowhere; create server abroad foreign data wrapper nowhere;
      create foreign table far (id int4, tenant_id int4 not null) server abroad;
      create foreign table farther (id int4, tenant_id int4 not null) server abroad;
      grant select on far, farther to rowgate_app`,
    );
    // A server of another process has read the catalogue already; an unknown name makes it read again.
    for (let attempt = 0; attempt < 30; attempt++) {
      if ((await get("/integration/tables/far/fields")).status === 200) break;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    const { tables } = assertOk(await get("/integration/tables"));
    const names = (tables as { name: string }[]).map(({ name }) => name);
    assertEquals(names.filter((name) => name.startsWith("far")), ["far"]);
    assertOk(await get("/integration/tables/far/fields"));
    assertRejected(await query("farther"), 404, /not found/i);
  });
}, { policy: POLICY });
