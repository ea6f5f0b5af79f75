// Requests without a valid token take nothing from those that have one.
import { assert, assertEquals } from "@std/assert";
import { afterAll, beforeAll, describe, it } from "@std/testing/bdd";
import { request } from "node:http";
import { mintToken } from "../../src/access/tokens/token_text.ts";
import { currentSignal } from "../support/current_test.ts";
import { startFaultProxy } from "../support/fault_proxy.ts";
import { FIXTURE_POLICY } from "../support/fixture_policy.ts";
import { RUNTIMES, type RuntimeServer, startServer } from "../support/runtime_server.ts";
import { createTestService, type TestService } from "../support/service.ts";
import { waitUntil } from "../support/wait_until.ts";

const MAX_IN_FLIGHT = 20;
const ROUNDS = 3;
const CONNECTIONS = 200;
const VALID_TOKENS = 100;
const policyText = JSON.stringify(FIXTURE_POLICY);

function receive(address: string, path: string, token?: string): Promise<{ status: number }> {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  return new Promise((resolve, reject) => {
    request(address + path, { headers, agent: false }, (response) => {
      response.resume().on("end", () => resolve({ status: response.statusCode! }));
    }).on("error", reject).end();
  });
}

for (const runtime of RUNTIMES) {
  describe(`requests without a good token to ${runtime}`, () => {
    let service: TestService;
    let server: RuntimeServer;

    beforeAll(async () => {
      service = await createTestService("real");
      const environment = {
        DATABASE_URL: service.database.servingUrl!,
        ROWGATE_MAX_IN_FLIGHT: String(MAX_IN_FLIGHT),
        ROWGATE_POOL_SIZE: "2",
        ROWGATE_TOKEN_LOOKUPS: "1",
      };
      server = await startServer(runtime, { environment, policyText });
    });
    afterAll(async () => {
      await server.stop();
      await service.close();
    });

    async function ask(path: string, token?: string): Promise<number> {
      return (await receive(server.address, path, token)).status;
    }

    it("take no connection from a tenant, and cause one probe of the database [RE30]", async () => {
      const { a } = service.tokens;
      assertEquals(await ask("/integration/tables", a), 200);
      const forged = Array.from({ length: CONNECTIONS / 4 }, mintToken);
      let done = false;
      const flood = Array.from({ length: CONNECTIONS }, async (_, n) => {
        const path = n % 4 === 0 ? "/readyz" : n % 4 === 1 ? "/metrics" : "/integration/tables";
        const token = n % 4 === 2 ? forged[(n - 2) / 4]!.token : undefined;
        const statuses = new Set<number>();
        for (let round = 0; round < ROUNDS || !done; round++) statuses.add(await ask(path, token));
        return { path, token, statuses };
      });
      const statuses: number[] = [];
      for (let n = 0; n < 40; n++) statuses.push(await ask("/integration/tables", a));
      done = true;
      assertEquals(statuses, statuses.map(() => 200));
      for (const { path, token, statuses } of await Promise.all(flood)) {
        const found = [...statuses].join();
        if (path === "/integration/tables") {
          assert(token === undefined ? found === "401" : /^(401|503|,)+$/.test(found), found);
        } else assertEquals(found, "200", path);
      }
    });

    it("delay no valid token on a server that has just started, far from Postgres [RE36] [L19]", async () => {
      const proxy = await startFaultProxy(service.database.servingUrl!);
      const valid = await Promise.all(
        Array.from({ length: VALID_TOKENS }, (_, n) => service.issue({ name: `first ${n}` })),
      );
      const environment = { DATABASE_URL: proxy.through(service.database.servingUrl!) };
      const fresh = await startServer(runtime, { environment, policyText });
      let done = false;
      const forge = async () => {
        const { status } = await receive(fresh.address, "/integration/token", mintToken().token);
        forged.push(status);
      };
      const forged: number[] = [];
      const signal = currentSignal();
      try {
        await proxy.during({ kind: "delay", ms: 10 }, async () => {
          const tripsBefore = proxy.roundTrips();
          const flood = Array.from({ length: CONNECTIONS }, async () => {
            while (!done && !signal.aborted) await forge();
          });
          await waitUntil(() => forged.length >= CONNECTIONS);
          const statuses = await Promise.all(
            valid.map(async (token) =>
              (await receive(fresh.address, "/integration/token", token)).status
            ),
          );
          done = true;
          await Promise.all(flood);
          const trips = proxy.roundTrips() - tripsBefore;
          assertEquals(statuses, statuses.map(() => 200));
          // On a busy machine some wait longer for their look-up than they may.
          assertEquals(forged.filter((status) => status !== 401 && status !== 503), []);
          assert(forged.includes(401), "no forged token was looked up");
          // Each statement looked up many tokens.
          assert(
            trips < forged.length / 4,
            `${trips} round trips for ${forged.length} forged tokens`,
          );
        });
      } finally {
        done = true;
        await fresh.stop();
        await proxy.stop();
      }
    });
  });
}
