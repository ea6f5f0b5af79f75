// Requests without a valid token take nothing from those that have one.
import { assert, assertEquals } from "@std/assert";
import { afterAll, beforeAll, describe, it } from "@std/testing/bdd";
import { request } from "node:http";
import { mintToken } from "../../src/tokens/token_text.ts";
import { FIXTURE_POLICY } from "../support/fixture_policy.ts";
import { RUNTIMES, type RuntimeServer, startServer } from "../support/runtime_server.ts";
import { createTestService, type TestService } from "../support/service.ts";

const MAX_IN_FLIGHT = 20;
const ROUNDS = 3;
const CONNECTIONS = 200;
const policyText = JSON.stringify(FIXTURE_POLICY);

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
      };
      server = await startServer(runtime, { environment, policyText });
    });
    afterAll(async () => {
      await server.stop();
      await service.close();
    });

    function ask(path: string, token?: string): Promise<number> {
      const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
      return new Promise((resolve, reject) => {
        request(server.address + path, { headers, agent: false }, (response) => {
          response.resume();
          response.on("end", () => resolve(response.statusCode!));
        }).on("error", reject).end();
      });
    }

    it("take no place of a tenant, and one probe of the database [RE30]", async () => {
      const { a } = service.tokens;
      assertEquals(await ask("/integration/tables", a), 200);
      const forged = await Promise.all(Array.from({ length: CONNECTIONS / 4 }, mintToken));
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
  });
}
