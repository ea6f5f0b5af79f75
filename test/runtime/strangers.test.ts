// Requests without a valid token take nothing from those that have one.
import { assert, assertEquals, assertMatch } from "@std/assert";
import { afterAll, beforeAll, describe, it } from "@std/testing/bdd";
import { request } from "node:http";
import { mintToken } from "../../src/tokens/token_text.ts";
import { FIXTURE_POLICY } from "../support/fixture_policy.ts";
import { RUNTIMES, type RuntimeServer, startServer } from "../support/runtime_server.ts";
import { createTestService, type TestService } from "../support/service.ts";
import { waitUntil } from "../support/wait_until.ts";

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
        ROWGATE_TOKEN_LOOKUPS: "1",
      };
      server = await startServer(runtime, { environment, policyText });
    });
    afterAll(async () => {
      await server.stop();
      await service.close();
    });

    async function ask(path: string, token?: string): Promise<number> {
      return (await receive(path, token)).status;
    }

    function receive(path: string, token?: string): Promise<{ status: number; text: string }> {
      const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
      return new Promise((resolve, reject) => {
        request(server.address + path, { headers, agent: false }, (response) => {
          let text = "";
          response.setEncoding("utf8").on("data", (chunk) => text += chunk);
          response.on("end", () => resolve({ status: response.statusCode!, text }));
        }).on("error", reject).end();
      });
    }

    it("take no place of a tenant, and one probe of the database [RE30]", async () => {
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

    it("wait for ROWGATE_TOKEN_LOOKUPS at a time, 32 for each, and then get 503 [RE30] [L19]", async () => {
      const forged = Array.from({ length: 40 }, mintToken);
      const rejected: string[] = [];
      let responses: Promise<number>[] = [];
      await service.database.admin.begin(async (sql) => {
        await sql`lock table rowgate.tokens in access exclusive mode`;
        responses = forged.map(async ({ token }) => {
          const { status, text } = await receive("/integration/tables", token);
          if (status === 503) rejected.push(text);
          return status;
        });
        await waitUntil(() => Promise.resolve(rejected.length >= 40 - 33));
      });
      const statuses = await Promise.all(responses);
      assertEquals(statuses.filter((status) => status === 401).length, 33);
      assertEquals(rejected.length, 7);
      for (const text of rejected) {
        assertMatch(text, /At most 32 requests wait .* again in a second/);
      }
    });
  });
}
