import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { after, before, describe, it } from "@std/testing/bdd";
import { RUNTIMES, startServer } from "../../support/runtime_server.ts";
import { waitUntil } from "../../support/wait_until.ts";
import { createServingDatabase, type ServingDatabase, updateDeal } from "../serving_database.ts";

const UPDATES = 20;

describe("a database that was always read-only", () => {
  let database: ServingDatabase;

  before(async () => {
    database = await createServingDatabase();
    await database.admin.unsafe(`do $$ begin
      execute format('alter database %I set default_transaction_read_only = on', current_database());
    end $$`);
  });
  after(() => database?.drop());

  /** The sessions of the server, all but those of the test itself. */
  async function listSessions(): Promise<string[]> {
    const rows = await database.admin<{ pid: string }[]>`
      select pid::text as pid from pg_stat_activity
      where datname = current_database() and application_name = 'rowgate' and usename = 'rowgate_app'`;
    return rows.map(({ pid }) => pid);
  }

  /** The session that listens is opened beside requests, and may come later. */
  async function isListening(): Promise<boolean> {
    const rows = await database.admin`
      select from pg_stat_activity
      where datname = current_database() and query like 'listen%'`;
    return rows.length > 0;
  }

  for (const runtime of RUNTIMES) {
    it(`rejects updates on ${runtime}, and no session is renewed for that [DB30]`, async () => {
      // No session is opened ahead of requests.
      const environment = { DATABASE_URL: database.servingUrl, ROWGATE_POOL_IDLE_SIZE: "0" };
      const server = await startServer(runtime, { environment, policyText: "{}" });
      try {
        const update = () =>
          updateDeal(server.address, { token: database.token, fid: 1, note: "never" });
        await update();
        await waitUntil(isListening);
        const before = await listSessions();
        assert(before.length > 1);
        const startedMs = performance.now();
        for (let asked = 0; asked < UPDATES; asked++) {
          const { status, text } = await update();
          assertEquals(status, 503, text);
          assertStringIncludes(text, "nothing was changed");
          // Sessions were renewed at most every half second.
          await new Promise((resolve) => setTimeout(resolve, 60));
        }
        assert(performance.now() - startedMs > 1000);
        // Another one may have been opened, for a look-up of a token beside an update.
        const after = await listSessions();
        assertEquals(before.filter((pid) => !after.includes(pid)), []);
      } finally {
        await server.stop();
      }
    });
  }
});
