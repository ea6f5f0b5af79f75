import { assertEquals } from "@std/assert";
import { after, before, describe, it } from "@std/testing/bdd";
import { findPooler, type Pooler, startPooler } from "../../support/pooler.ts";
import { RUNTIMES } from "../../support/runtime_server.ts";
import { createTestService, type TestService } from "../../support/service.ts";

const CLIENTS = 16;
const ROUNDS = 3;
/** By then the statement of each client has been sent. */
const HANG_UP_MS = 300;

const program = await findPooler();
if (program === undefined) console.log("pgbouncer is not installed: nothing is tested behind it");

for (const runtime of program === undefined ? [] : RUNTIMES) {
  describe(`clients that hang up behind PgBouncer, on ${runtime}`, () => {
    let pooler: Pooler;
    let service: TestService;

    before(async () => {
      service = await createTestService("real", {
        runtime,
        environment: { ROWGATE_PREPARE: "off", ROWGATE_POOL_SIZE: String(CLIENTS) },
        route: async (url) => {
          pooler = await startPooler(program!, url, { connections: CLIENTS });
          return pooler.through(url);
        },
      });
    });
    after(async () => {
      await service?.close();
      await pooler?.stop();
    });

    it("leave the pooler and its other clients alive [DB28]", async () => {
      const path = "/integration/tables/deals";
      const hangUp = async () => {
        const client = new AbortController();
        setTimeout(() => client.abort(), HANG_UP_MS);
        const response = fetch(`${service.server!.address}${path}/records/single`, {
          method: "PATCH",
          headers: {
            "authorization": `Bearer ${service.tokens.a}`,
            "content-type": "application/json",
          },
          body: JSON.stringify({ filters: { fid: 1 }, fields: { note: "gone" } }),
          signal: client.signal,
        });
        return await response.then(({ status }) => status, () => "gone");
      };
      for (let round = 0; round < ROUNDS; round++) {
        await service.database.admin.begin(async (other) => {
          await other`lock table deals in access exclusive mode`;
          const responses = await Promise.all(Array.from({ length: CLIENTS }, hangUp));
          assertEquals(new Set(responses), new Set(["gone"]));
        });
      }
      const asked = await service.send("POST", `${path}/query`, { body: {} });
      assertEquals([asked.status, pooler.isAlive()], [200, true], asked.text);
    });
  });
}
