import { assertEquals } from "@std/assert";
import { after, before, describe, it } from "@std/testing/bdd";
import { createTestDatabase, type TestDatabase } from "../../support/database.ts";
import { runRowgate, startRowgate } from "./run_rowgate.ts";

describe("rowgate serve when it stops", () => {
  let test: TestDatabase;

  before(async () => {
    test = await createTestDatabase("real");
  });
  after(() => test.drop());

  it("waits for running requests at most ROWGATE_SHUTDOWN_MS, and exits with 0 [R29] [R40]", async () => {
    const owner = { DATABASE_URL: test.url ?? "" };
    const { out: token } = await runRowgate(["token", "create", "--tenant", "1"], owner);
    const server = startRowgate(["serve"], {
      ...owner,
      PORT: "0",
      ROWGATE_SHUTDOWN_MS: "300",
      ROWGATE_LOCK_TIMEOUT_MS: "3600000",
      ROWGATE_STATEMENT_TIMEOUT_MS: "3600000",
    });
    const [, address] = await server.see("out", /"listening","address":"([^"]+)"/);
    const holder = await test.admin.reserve();
    await holder`begin`;
    await holder`select from deals where fid = 1 for update`;
    const pending = fetch(`${address}/integration/tables/deals/records/single`, {
      method: "PATCH",
      headers: { "authorization": `Bearer ${token.trim()}`, "content-type": "application/json" },
      body: JSON.stringify({ filters: { fid: 1 }, fields: { note: "late" } }),
    }).then((response) => response.body?.cancel(), () => undefined);
    for (let waiting = 0; waiting === 0;) {
      waiting = (await test.admin`select from pg_stat_activity
        where wait_event_type = 'Lock' and datname = current_database()`).length;
    }
    server.send("SIGTERM");
    // The row is still held: what ends the process is the time that is up.
    assertEquals(await server.ended, 0);
    await holder`rollback`;
    holder.release();
    await pending;
  });
});
