import { assertEquals, assertMatch } from "@std/assert";
import { after, before, describe, it } from "@std/testing/bdd";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { allowEmbedded, BINARY, SERVING } from "../../scripts/permissions.ts";
import { V8_FLAGS } from "../../src/server/runtime/v8_flags.ts";
import { awaitAddress, type RunningProcess, startProcess } from "./run_process.ts";
import { createServingDatabase, type ServingDatabase, updateDeal } from "./serving_database.ts";

describe("rowgate serve on Deno, with the fewest permissions", () => {
  let database: ServingDatabase;
  let folder: string;

  before(async () => {
    database = await createServingDatabase();
    folder = await mkdtemp(join(tmpdir(), "rowgate-permissions-"));
  });
  after(async () => {
    await database.drop();
    await rm(folder, { recursive: true, force: true });
  });

  function start(
    permissions: readonly string[],
    settings: Record<string, string>,
  ): RunningProcess {
    const parameters = ["run", "--no-check", V8_FLAGS, ...permissions, "src/main.ts", "serve"];
    const environment = { PORT: "0", ...settings };
    return startProcess(process.execPath, parameters, environment);
  }

  const real = (settings: Record<string, string> = {}) => ({
    DATABASE_URL: database.servingUrl,
    ...settings,
  });

  async function assertServes(server: RunningProcess): Promise<void> {
    const address = await awaitAddress(server);
    const response = await updateDeal(address, { token: database.token, fid: 1, note: "least" });
    assertEquals(response.status, 200, response.text);
    server.send("SIGTERM");
    assertEquals(await server.ended, 0);
  }

  it("serves the operator's Postgres with the network and the environment alone [CF17]", async () => {
    await assertServes(start(SERVING, real()));
    const { host } = new URL(database.servingUrl);
    const narrow = SERVING.map((name) =>
      name === "--allow-net" ? `${name}=127.0.0.1:0,${host}` : name
    );
    await assertServes(start(narrow, real()));
  });

  it("serves with a policy file that it may read, and with what a binary is given [CF17]", async () => {
    const ROWGATE_POLICY = join(folder, "policy.json");
    await writeFile(ROWGATE_POLICY, "{}");
    await assertServes(
      start([...SERVING, `--allow-read=${ROWGATE_POLICY}`], real({ ROWGATE_POLICY })),
    );
    await assertServes(start(BINARY, real({ ROWGATE_POLICY })));
  });

  it("serves the embedded Postgres, writing in its data directory alone [CF17]", async () => {
    const ROWGATE_DATA_DIR = join(folder, "data");
    const server = start(allowEmbedded(ROWGATE_DATA_DIR), { ROWGATE_DATA_DIR });
    const address = await awaitAddress(server);
    assertEquals((await fetch(`${address}/readyz`)).status, 200);
    server.send("SIGTERM");
    assertEquals(await server.ended, 0);
  });

  it("ends with one clear line where one is denied, and asks no question [CF17]", async () => {
    const [prompt = "", net = "", env = ""] = SERVING;
    const listening = "--allow-net=127.0.0.1:0";
    const ROWGATE_POLICY = join(folder, "denied.json");
    await writeFile(ROWGATE_POLICY, "{}");
    for (
      const [permissions, settings, code, reported] of [
        // Without any of its own, Deno gives a Deno that it starts all of them.
        [[prompt, net], {}, 1, /^rowgate: Deno denies [^\n]*--allow-env[^\n]*\n$/],
        [[prompt, net, "--allow-env=PORT"], {}, 1, /^rowgate: Deno denies [^\n]*--allow-env/],
        [[prompt, env], {}, 1, /^rowgate: cannot listen on [^\n]*--allow-net\n$/],
        [[prompt, env, listening], {}, 1, /^rowgate: Deno denies [^\n]*--allow-net[^\n]*\n$/],
        [SERVING, { ROWGATE_POLICY }, 2, /ROWGATE_POLICY: [^\n]*denied\.json" cannot be read/],
      ] as const
    ) {
      const { ended, output } = start(permissions, real(settings));
      assertEquals(await ended, code, output().stderr);
      assertMatch(output().stderr, reported);
    }
  });
});
