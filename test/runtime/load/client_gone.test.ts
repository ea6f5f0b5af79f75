import { assertEquals } from "@std/assert";
import { afterAll, beforeAll, describe, it } from "@std/testing/bdd";
import { RUNTIMES } from "../../support/runtime_server.ts";
import { createTestService, type TestService } from "../../support/service.ts";
import { waitSoon } from "../../support/wait_until.ts";

const PATH = "/integration/tables/deals";

/** One request of each way that a statement is run. */
const OPERATIONS = [
  { name: "a query", method: "POST", path: `${PATH}/query`, body: {} },
  {
    name: "a single update",
    method: "PATCH",
    path: `${PATH}/records/single`,
    body: change("single"),
  },
  { name: "a bulk update", method: "PATCH", path: `${PATH}/records/bulk`, body: change("bulk") },
  {
    name: "an update in a transaction",
    method: "PATCH",
    path: `${PATH}/records/single`,
    body: change("rollback"),
    headers: { prefer: "tx=rollback" },
  },
];

function change(note: string) {
  return { filters: { fid: 1 }, fields: { note } };
}

for (const runtime of RUNTIMES) {
  describe(`a client that disconnects, on ${runtime}`, () => {
    let service: TestService;

    beforeAll(async () => {
      service = await createTestService("real", {
        runtime,
        environment: { ROWGATE_LOCK_TIMEOUT_MS: "60000", ROWGATE_STATEMENT_TIMEOUT_MS: "60000" },
      });
    });
    afterAll(() => service.close());

    /** How many statements of the service run. */
    async function countRunning(): Promise<number> {
      const [row] = await service.database.admin<[{ count: number }]>`
        select count(*)::int4 as count from pg_stat_activity
        where datname = current_database() and application_name = 'rowgate' and state <> 'idle'`;
      return row.count;
    }

    async function awaitRunning(count: number): Promise<void> {
      await waitSoon(async () => await countRunning() === count, 250);
    }

    for (const operation of OPERATIONS) {
      it(`ends the statement of ${operation.name} within 5 s, and changes nothing [RE19] [UB15]`, async () => {
        const admin = service.database.admin;
        // What is cached does not wait behind the lock.
        assertEquals((await service.send("POST", `${PATH}/query`, { body: {} })).status, 200);
        const before = await admin`select fid, note, xmin::text from deals order by fid`;
        const client = new AbortController();
        await admin.begin(async (other) => {
          await other`lock table deals in access exclusive mode`;
          const response = fetch(service.server!.address + operation.path, {
            method: operation.method,
            headers: {
              "authorization": `Bearer ${service.tokens.a}`,
              "content-type": "application/json",
              ...operation.headers,
            },
            body: JSON.stringify(operation.body),
            signal: client.signal,
          }).then(() => "answered", () => "gone");
          await awaitRunning(1);
          client.abort();
          assertEquals(await response, "gone");
          await awaitRunning(0);
        });
        assertEquals(await admin`select fid, note, xmin::text from deals order by fid`, before);
        const again = await service.send(operation.method, operation.path, {
          body: operation.body,
          headers: operation.headers ?? {},
        });
        assertEquals(again.status, 200, again.text);
      });
    }

    it("serves other clients while some disconnect as soon as they have their response [RE19]", async () => {
      const statuses = new Set<number>();
      await Promise.all(Array.from({ length: 8 }, async () => {
        for (let round = 0; round < 25; round++) {
          const client = new AbortController();
          const response = await fetch(`${service.server!.address}${PATH}/query`, {
            method: "POST",
            headers: {
              "authorization": `Bearer ${service.tokens.a}`,
              "content-type": "application/json",
            },
            body: "{}",
            signal: client.signal,
          });
          statuses.add(response.status);
          client.abort();
          await response.body?.cancel().catch(() => {});
        }
      }));
      assertEquals([...statuses], [200]);
    });
  });
}
