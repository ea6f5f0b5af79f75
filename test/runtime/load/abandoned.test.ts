import { assert, assertEquals } from "@std/assert";
import { after, before, describe, it } from "@std/testing/bdd";
import process from "node:process";
import { readMetrics } from "../../support/read_metrics.ts";
import { RUNTIMES } from "../../support/runtime_server.ts";
import { createTestService, type TestService } from "../../support/service.ts";
import { waitUntil } from "../../support/wait_until.ts";

const POOL = 5;
/** One place of five is kept for tenants that have nothing inside. */
const SHARE = POOL - 1;
/** Pool, three for transactions, two listeners, and those that ask for the abandoned. */
const MOST_CONNECTIONS = POOL + 3 + 2 + 2;
const PATH = "/integration/tables/deals";

for (const runtime of RUNTIMES) {
  describe(`backends that are deaf to a cancel, on ${runtime}`, () => {
    let service: TestService;

    before(async () => {
      service = await createTestService("real", {
        runtime,
        environment: {
          ROWGATE_POOL_SIZE: String(POOL),
          // A session that is opened ahead would wait for the lock for a moment, and be counted.
          ROWGATE_POOL_IDLE_SIZE: "0",
          ROWGATE_POOL_WAIT_MS: "500",
          ROWGATE_STATEMENT_TIMEOUT_MS: "8000",
        },
      });
    });
    after(() => service?.close());

    const query = (token: string, select: readonly string[] = []) =>
      service.send("POST", `${PATH}/query`, { body: { select }, token });
    async function countAbandoned(): Promise<number | undefined> {
      const { text } = await service.send("GET", "/metrics", { token: null });
      return readMetrics(text).samples.get("rowgate_abandoned_sessions");
    }

    async function listConnections(): Promise<{ pid: number; waits: boolean }[]> {
      return await service.database.admin<{ pid: number; waits: boolean }[]>`
        select pid, cardinality(pg_blocking_pids(pid)) > 0 as waits from pg_stat_activity
        where datname = current_database() and application_name = 'rowgate'`;
    }

    it("count against the pool and their tenant until they have ended [RE23]", async () => {
      const { a, b } = service.tokens;
      let deaf: number[] = [];
      try {
        await service.database.admin.begin(async (other) => {
          await other`lock table deals in access exclusive mode`;
          // Of different shapes: one that is sent again is prepared in new sessions, which then wait too.
          const columns = ["fid", "title", "note", "amount"].slice(0, SHARE);
          const responses = columns.map((column) => query(a, [column]));
          await waitUntil(async () => {
            deaf = (await listConnections()).filter(({ waits }) => waits).map(({ pid }) => pid);
            return deaf.length === SHARE;
          });
          for (const pid of deaf) process.kill(pid, "SIGSTOP");
          const statuses = (await Promise.all(responses)).map(({ status }) => status);
          assertEquals(statuses, Array.from({ length: SHARE }, () => 504));
        });
        assertEquals(await countAbandoned(), SHARE);
        for (let round = 0; round < 5; round++) {
          assertEquals((await query(a)).status, 503);
          assertEquals((await query(b)).status, 200);
          const { length } = await listConnections();
          assert(length <= MOST_CONNECTIONS, `${length} connections`);
        }
      } finally {
        for (const pid of deaf) process.kill(pid, "SIGCONT");
      }
      await waitUntil(async () => await countAbandoned() === 0);
      await waitUntil(async () => (await query(a)).status === 200);
    });
  });
}
