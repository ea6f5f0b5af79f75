import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { afterAll, beforeAll, describe, it } from "@std/testing/bdd";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { RUNTIMES } from "../support/runtime_server.ts";
import { awaitAddress, startCommand } from "./run_process.ts";
import { createServingDatabase, type ServingDatabase } from "./serving_database.ts";

const PASSWORD = "hunter2.hunter2";

let database: ServingDatabase;
let folder: string;

beforeAll(async () => {
  database = await createServingDatabase();
  folder = await mkdtemp(join(tmpdir(), "rowgate-start-"));
});
afterAll(async () => {
  await database.drop();
  await rm(folder, { recursive: true, force: true });
});

for (const runtime of RUNTIMES) {
  describe(`rowgate on ${runtime}, as it starts`, () => {
    /** Runs the command to its end. */
    async function run(parameters: readonly string[], environment: Record<string, string> = {}) {
      const { ended, output } = startCommand(runtime, parameters, environment);
      return { code: await ended, ...output() };
    }

    it("reports all that is wrong at once, with ranges and the nearest name, and ends with 2 [CF1] [CF3] [CF5] [R7]", async () => {
      const policy = join(folder, "policy.json");
      await writeFile(policy, '{"tabels": {}}');
      const { code, stdout, stderr } = await run(["serve"], {
        DATABASE_URL: `mysql://app:${PASSWORD}@db/shop`,
        PORT: "70000",
        ROWGATE_POOL_SIZE: "-1",
        ROWGATE_RATE_LIMIT: "600/day",
        ROWGATE_STATEMENT_TIMEOUT_MS: "0",
        ROWGATE_SHUTDOWN_MS: "1e9",
        ROWGATE_POOL_SIZ: "10",
        ROWGATE_POLICY: policy,
      });
      assertEquals([code, stdout], [2, ""]);
      for (
        const part of [
          "8 problems",
          "DATABASE_URL",
          "PORT: ",
          "0 to 65535",
          "ROWGATE_POOL_SIZE: ",
          "ROWGATE_RATE_LIMIT: ",
          "ROWGATE_STATEMENT_TIMEOUT_MS: ",
          "ROWGATE_SHUTDOWN_MS: ",
          "did you mean ROWGATE_POOL_SIZE",
          "tabels",
        ]
      ) assertStringIncludes(stderr, part);
      assert(!stderr.includes(PASSWORD), stderr);
      const unset = await run(["serve"], { DATABASE_URL: "" });
      assertEquals(unset.code, 2);
      assertMatch(unset.stderr, /DATABASE_URL: is empty/);
    });

    it("says of a port that is taken which variable to change, before anything is made [CF4]", async () => {
      const taken = createServer();
      await new Promise<void>((resolve) => taken.listen(0, "127.0.0.1", resolve));
      const PORT = String((taken.address() as AddressInfo).port);
      const { servingUrl: DATABASE_URL } = database;
      const { code, stderr } = await run(["serve"], { DATABASE_URL, PORT });
      taken.close();
      assertEquals(code, 1);
      assertMatch(
        stderr,
        /^rowgate: cannot listen on 127.0.0.1:\d+, the address is in use[^\n]*PORT[^\n]*\n$/,
      );
    });

    it("takes any free port for 0, and prints which [CF4]", async () => {
      const server = startCommand(runtime, ["serve"], {
        DATABASE_URL: database.servingUrl,
        PORT: "0",
      });
      const address = await awaitAddress(server);
      assertEquals((await fetch(`${address}/livez`)).status, 200);
      server.send("SIGTERM");
      assertEquals(await server.ended, 0);
    });

    it("shows the password nowhere: errors, log, probes, list of processes [CF2]", async () => {
      // Unavailable, and rejected by the database.
      const host = new URL(database.servingUrl).host;
      const unavailable = { DATABASE_URL: `postgres://app:${PASSWORD}@127.0.0.1:1/shop` };
      const refused = { DATABASE_URL: `postgres://rowgate_app:${PASSWORD}@${host}/postgres` };
      const said: string[] = [];
      for (
        const [parameters, environment] of [
          [["token", "list"], unavailable],
          [["token", "list"], refused],
          [["serve"], refused],
        ] as const
      ) {
        const { stdout, stderr } = await run(parameters, environment);
        said.push(stdout, stderr);
      }
      const settings = { ...unavailable, PORT: "0", ROWGATE_LOG_LEVEL: "debug" };
      const server = startCommand(runtime, ["serve"], settings);
      const address = await awaitAddress(server);
      for (const path of ["/readyz", "/livez", "/metrics", "/integration/token"]) {
        const headers = { authorization: "Bearer x" };
        said.push(await (await fetch(`${address}${path}`, { headers })).text());
      }
      said.push(await readFile(`/proc/${server.pid}/cmdline`, "utf8").catch(() => ""));
      server.send("SIGTERM");
      assertEquals(await server.ended, 0);
      said.push(...Object.values(server.output()));
      assert(said.join("").length > 1000);
      assertEquals(said.filter((text) => text.includes("hunter2")), []);
    });

    it("warns of a superuser, and of a schema that is not there [CF8] [CF9]", async () => {
      const server = startCommand(runtime, ["serve"], {
        DATABASE_URL: database.ownerUrl,
        PORT: "0",
        ROWGATE_SCHEMA: "not_there",
      });
      await awaitAddress(server);
      server.send("SIGTERM");
      assertEquals(await server.ended, 0);
      const { stdout } = server.output();
      assertMatch(stdout, /"warning","message":"the database role \w+ is a superuser/);
      assertMatch(stdout, /"warning","message":"schema \\"not_there\\" is not there/);
    });

    it("says of a folder that cannot be written which variable to change [CF20]", async () => {
      for (const ROWGATE_DATA_DIR of ["/proc/none", join(folder, "policy.json", "in a file")]) {
        const { code, stderr } = await run(["serve"], { ROWGATE_DATA_DIR, PORT: "0" });
        assertEquals(code, 1);
        assertMatch(
          stderr,
          /^First start: [^\n]*\nrowgate: the data directory [^\n]* cannot be written[^\n]*ROWGATE_DATA_DIR[^\n]*\n$/,
        );
      }
    });
  });
}
