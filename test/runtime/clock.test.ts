import { assert, assertEquals } from "@std/assert";
import { afterAll, beforeAll, describe, it } from "@std/testing/bdd";
import { COMMANDS, RUNTIMES } from "../support/runtime_server.ts";
import { awaitAddress, startProcess } from "./run_process.ts";
import { createServingDatabase, type ServingDatabase, updateDeal } from "./serving_database.ts";

const CLOCK = "./test/runtime/jumping_clock.js";
const PRELOAD = {
  deno: [...COMMANDS.deno.slice(0, -1), "--preload", CLOCK, ...COMMANDS.deno.slice(-1)],
  bun: [COMMANDS.bun[0]!, "--preload", CLOCK, ...COMMANDS.bun.slice(1)],
  node: ["node", "--import", CLOCK, ...COMMANDS.node.slice(1)],
} as const;

let database: ServingDatabase;

beforeAll(async () => {
  database = await createServingDatabase();
});
afterAll(() => database.drop());

for (const runtime of RUNTIMES) {
  describe(`rowgate serve on ${runtime}, whose clock jumps two hours ahead and back`, () => {
    it("ends tokens by the database's clock, and waits by one that never jumps [CF19]", async () => {
      const { admin, issue } = database;
      // One ends in an hour, which the process's clock is past half of the time; one has ended.
      const good = await issue({ name: "good", expiry: { kind: "after", seconds: 3600 } });
      const ended = await issue({ name: "ended", expiry: { kind: "after", seconds: 3600 } });
      await admin`update rowgate.tokens set expires_at = now() - interval '1 minute'
        where name = 'ended'`;
      const [command = "", ...parameters] = PRELOAD[runtime];
      const server = startProcess(command, [...parameters, "serve"], {
        DATABASE_URL: database.servingUrl,
        PORT: "0",
        ROWGATE_LOCK_TIMEOUT_MS: "700",
      });
      const address = await awaitAddress(server);
      const times = new Set<string>();
      for (let turn = 0; turn < 40; turn++) {
        const statuses = await Promise.all([good, ended].map(async (token) => {
          const headers = { authorization: `Bearer ${token}` };
          const response = await fetch(`${address}/integration/token`, { headers });
          await response.body?.cancel();
          return response.status;
        }));
        assertEquals(statuses, [200, 401]);
        await new Promise((resolve) => setTimeout(resolve, 7));
      }
      const holder = await admin.reserve();
      await holder`begin`;
      await holder`select from deals where fid = 1 for update`;
      const started = performance.now();
      const rejected = await updateDeal(address, { token: good, fid: 1, note: "late" });
      assertEquals(rejected.status, 503, rejected.text);
      assert(performance.now() - started >= 600, "it did not wait");
      await holder`rollback`;
      holder.release();
      server.send("SIGTERM");
      assertEquals(await server.ended, 0);
      // The clock did jump: the lines of the log have its time.
      for (const [, time] of server.output().stdout.matchAll(/"time":"([^"]{13})/g)) {
        times.add(time!);
      }
      assert(times.size > 1, [...times].join());
    });
  });
}
