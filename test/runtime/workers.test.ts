import { assert, assertEquals, assertMatch } from "@std/assert";
import { afterAll, afterEach, beforeAll, describe, it } from "@std/testing/bdd";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import process from "node:process";
import { SERVING } from "../../scripts/permissions.ts";
import { V8_FLAGS } from "../../src/server/runtime/v8_flags.ts";
import { currentSignal, whenTestEnds } from "../support/current_test.ts";
import { findPort } from "../support/find_port.ts";
import { read } from "../support/launch_server.ts";
import { readMetrics } from "../support/read_metrics.ts";
import { RUNTIMES } from "../support/runtime_server.ts";
import { waitUntil } from "../support/wait_until.ts";
import { openClient } from "./keep_alive_client.ts";
import {
  awaitAddress,
  awaitOutput,
  type RunningProcess,
  startCommand,
  startProcess,
} from "./run_process.ts";
import {
  awaitBlocked,
  createServingDatabase,
  type ServingDatabase,
  updateDeal,
} from "./serving_database.ts";

const LISTED = 'rowgate_requests_total{operation="list_tables",status="200"}';

let database: ServingDatabase;
let settings: Record<string, string>;

beforeAll(async () => {
  database = await createServingDatabase();
  settings = { DATABASE_URL: database.servingUrl, PORT: "0", ROWGATE_WORKERS: "2" };
});
afterAll(() => database.drop());

// The binary has no script to start again: it starts itself.
for (const runtime of [...RUNTIMES, "binary"] as const) {
  describe(`rowgate serve on ${runtime} with several workers`, () => {
    let running: RunningProcess[] = [];

    // Each test has servers of its own, which end with it: what it does to them concerns no other one.
    afterEach(() => awaitAll(running));

    function start(environment: Record<string, string> = settings): RunningProcess {
      const server = startCommand(runtime, ["serve"], environment);
      running.push(server);
      void server.ended.then(() => running = running.filter((other) => other !== server));
      return server;
    }

    /** Starts two workers and waits until both respond. */
    async function startBoth(environment = settings): Promise<[RunningProcess, string]> {
      const server = start(environment);
      const address = await awaitAddress(server);
      await awaitBoth(server, address);
      return [server, address];
    }

    /** Locks a deal until it is let go, or the test ends. */
    async function hold(fid: number): Promise<() => Promise<void>> {
      const holder = await database.admin.reserve();
      await holder`begin`;
      await holder`select from deals where fid = ${fid} for update`;
      let released: Promise<void> | undefined;
      const letGo = () => released ??= holder`rollback`.then(() => holder.release());
      whenTestEnds(() => void letGo());
      return letGo;
    }

    /** Updates a deal to a note that is not there already: otherwise it would wait for no row. */
    function change(address: string, fid: number) {
      return updateDeal(address, { token: database.token, fid, note: `${runtime} ${fid}` });
    }

    async function listTables(address: string): Promise<void> {
      const client = openClient(address);
      const headers = { authorization: `Bearer ${database.token}` };
      assertEquals((await client.ask("/integration/tables", headers)).status, 200);
      client.close();
    }

    it("says once that it listens, responds from both, and each of them gives the metrics of all [R42]", async () => {
      const [server, address] = await startBoth();
      for (let count = 0; count < 25; count++) await listTables(address);
      const answered = new Set(readLines(server).map(({ worker }) => worker).filter(Boolean));
      assertEquals([...answered].sort(), [1, 2]);
      for (let count = 0; count < 6; count++) {
        const samples = await readFigures(address);
        assertEquals(samples.get(LISTED), 25);
        const observed = 'rowgate_request_duration_seconds_count{operation="list_tables"}';
        assertEquals(samples.get(observed), 25);
        assertEquals(samples.get('rowgate_pool_size{pool="statements"}'), 10);
        const builds = [...samples].filter(([name]) => name.startsWith("rowgate_build_info"));
        assertEquals(builds.map(([, value]) => value), [1]);
      }
      assertEquals(readLines(server).filter(({ kind }) => kind === "listening").length, 1);
      assertEquals(server.output().stderr, "");
    });

    it("loses only the requests of a killed worker, and replaces it [R43]", async () => {
      const [server, address] = await startBoth();
      const killed = (await listChildren(server))[0]!;
      const before = (await readFigures(address)).get(LISTED) ?? 0;
      for (let count = 0; count < 10; count++) await listTables(address);
      assertEquals((await readFigures(address)).get(LISTED), before + 10);
      let done = false;
      let answered = 0;
      const signal = currentSignal();
      const clients = Array.from({ length: 8 }, async () => {
        const client = openClient(address);
        const [failures, statuses] = [[] as unknown[], new Set<number>()];
        for (let first = true; !done && !signal.aborted; first = false) {
          await client.ask("/readyz").then(
            ({ status }) => statuses.add(status),
            (error) => failures.push(error),
          );
          if (first) answered++;
        }
        client.close();
        return { failures: failures.length, statuses: [...statuses] };
      });
      await waitUntil(() => answered === clients.length);
      process.kill(killed, "SIGKILL");
      await awaitOutput(server, /"warning"[^\n]*ended on SIGKILL/, "stdout");
      await waitUntil(async () => {
        const children = await listChildren(server);
        return children.length === 2 && !children.includes(killed);
      });
      await awaitBoth(server, address);
      done = true;
      for (const { failures, statuses } of await Promise.all(clients)) {
        assert(failures <= 1, String(failures));
        assertEquals(statuses, [200]);
      }
      // What it had counted has been asked for before it was killed.
      assertEquals((await readFigures(address)).get(LISTED), before + 10);
    });

    it("reports what is wrong once, and ends: the port, the database, the settings", async () => {
      const taken = createServer().listen(0, "127.0.0.1");
      await once(taken, "listening");
      const url = new URL(database.servingUrl);
      url.pathname = "/rowgate_no_such_database";
      const wrong: [Record<string, string>, number, RegExp][] = [
        [
          { ...settings, PORT: String((taken.address() as AddressInfo).port) },
          1,
          /^rowgate: .*is in use.*PORT=0\n$/,
        ],
        [{ ...settings, DATABASE_URL: url.href }, 1, /^rowgate: .*\n$/],
        [{ ...settings, ROWGATE_WORKERS: "many" }, 2, /^.*a problem:\n +ROWGATE_WORKERS: .*\n$/],
      ];
      try {
        for (const [environment, code, reported] of wrong) {
          const server = start(environment);
          assertEquals(await server.ended, code);
          assertMatch(server.output().stderr, reported);
        }
      } finally {
        taken.close();
      }
    });

    it("finishes what runs on SIGTERM, also when the whole group is sent it, and ends with 0", async () => {
      const [server, address] = await startBoth();
      const letGo = await hold(1);
      const response = change(address, 1);
      await awaitBlocked(database.admin, 1);
      const children = await listChildren(server);
      server.send("SIGTERM");
      for (const pid of children) sendIfThere(pid, "SIGTERM");
      await awaitOutput(server, /"stopping"/, "stdout");
      await letGo();
      assertEquals((await response).status, 200);
      assertEquals([await server.ended, server.output().stderr], [0, ""]);
      await awaitEnd(children);
    });

    it("ends at once with 1 on a second signal", async () => {
      const [server, address] = await startBoth();
      const letGo = await hold(2);
      const response = change(address, 2).catch(() => "cut");
      await awaitBlocked(database.admin, 1);
      const children = await listChildren(server);
      server.send("SIGTERM");
      await awaitOutput(server, /"stopping"/, "stdout");
      server.send("SIGINT");
      assertEquals(await server.ended, 1);
      await awaitEnd(children);
      assertEquals(await response, "cut");
      await letGo();
    });

    it("leaves no worker and no port behind when the supervisor is killed, after what runs", async () => {
      const [server, address] = await startBoth();
      const letGo = await hold(3);
      const response = change(address, 3);
      await awaitBlocked(database.admin, 1);
      const children = await listChildren(server);
      server.send("SIGKILL");
      await awaitOutput(server, /"stopping","signal":"supervisor"/, "stdout");
      await letGo();
      assertEquals((await response).status, 200);
      await awaitEnd(children);
      const PORT = new URL(address).port;
      await startBoth({ ...settings, PORT });
    });

    it("leaves no worker behind that had sent messages which a killed supervisor never read", async () => {
      const [server, address] = await startBoth();
      const children = await listChildren(server);
      server.send("SIGSTOP");
      // It asks the supervisor, and gives its own metrics when that does not answer.
      await readFigures(address);
      server.send("SIGKILL");
      await awaitEnd(children);
    });

    it("begins with one worker, that responds while the database is unavailable", async () => {
      const port = await findPort();
      const DATABASE_URL = `postgres://app@127.0.0.1:${port}/shop`;
      const server = start({ ...settings, DATABASE_URL });
      const address = await awaitAddress(server);
      const client = openClient(address);
      assertEquals((await client.ask("/readyz")).status, 503);
      client.close();
      assertEquals((await listChildren(server)).length, 1);
      server.send("SIGTERM");
      assertEquals(await server.ended, 0);
    });

    it("admits exactly the limit of a token over both workers where it is shared [M21]", async () => {
      const [_, address] = await startBoth({
        ...settings,
        ROWGATE_RATE_LIMIT: "120/min",
        ROWGATE_RATE_LIMIT_SCOPE: "instances",
      });
      const headers = { authorization: `Bearer ${await database.issue()}` };
      const startMs = performance.now();
      const statuses: number[] = [];
      for (let count = 0; count < 200; count++) {
        // Each connection gets one of the workers.
        const client = openClient(address);
        statuses.push((await client.ask("/integration/token", headers)).status);
        client.close();
      }
      const seconds = (performance.now() - startMs) / 1000;
      const admitted = statuses.filter((status) => status === 200).length;
      assert(admitted <= 120 + 2 * seconds + 1, `${admitted} in ${seconds} s`);
      // Each worker may hold a lease, which the other one lacks; half of the limit is not enough.
      assert(admitted >= 100, `only ${admitted} in ${seconds} s`);
      const response = await fetch(`${address}/integration/token`, { headers });
      await response.body?.cancel();
      assertEquals(response.headers.get("ratelimit-policy"), '"default";q=120;w=60');
    });
  });
}

describe("rowgate serve on Deno with several workers and few permissions", () => {
  function start(permissions: readonly string[]): RunningProcess {
    const words = ["run", "--no-check", V8_FLAGS, ...permissions, "src/main.ts", "serve"];
    return startProcess(process.execPath, words, settings);
  }

  it("passes its permissions on to the workers", async () => {
    const server = start([...SERVING, `--allow-run=${process.execPath}`]);
    await awaitBoth(server, await awaitAddress(server));
    for (const pid of await listChildren(server)) {
      const words = await read("ps", ["-o", "args=", "-p", String(pid)]);
      assertEquals(words.match(/--allow-\S+/g), ["--allow-net", "--allow-env"]);
    }
    server.send("SIGTERM");
    assertEquals(await server.ended, 0);
  });

  it("names the permissions that it needs", async () => {
    for (
      const [permissions, reported] of [[SERVING, /--allow-run/], [[
        "--no-prompt",
        "--allow-env",
        "--allow-net=127.0.0.1",
      ], /--allow-net/]] as const
    ) {
      const server = start(permissions);
      assertEquals(await server.ended, 2);
      assertMatch(server.output().stderr, reported);
    }
  });
});

/** Waits until each of two workers has served a request. */
async function awaitBoth(server: RunningProcess, address: string): Promise<void> {
  const from = server.output().stdout.length;
  await waitUntil(async () => {
    const client = openClient(address);
    await client.ask("/livez").catch(() => {});
    client.close();
    const reported = server.output().stdout.slice(from);
    return reported.includes('"worker":1,') && reported.includes('"worker":2,');
  });
}

async function readFigures(address: string): Promise<ReadonlyMap<string, number>> {
  const client = openClient(address);
  const { text } = await client.ask("/metrics");
  client.close();
  return readMetrics(text).samples;
}

function readLines(server: RunningProcess): { kind: string; worker?: number }[] {
  return server.output().stdout.trimEnd().split("\n").map((line) => JSON.parse(line));
}

async function listChildren({ pid }: RunningProcess): Promise<number[]> {
  const list = await read("ps", ["-o", "pid=", "--ppid", String(pid)]);
  return list.split(/\s+/).filter((text) => text !== "").map(Number);
}

/** The output of a supervisor ends with the last of its workers. */
async function awaitAll(servers: readonly RunningProcess[]): Promise<void> {
  let ended = 0;
  for (const server of servers) void server.ended.then(() => ended++);
  await waitUntil(() => Promise.resolve(ended === servers.length));
}

/**
 * Reports whether the process was there; 0 only asks. One that had nothing to do may have ended on the
 * supervisor's word already.
 */
function sendIfThere(pid: number, signal: "SIGTERM" | 0): boolean {
  try {
    return process.kill(pid, signal);
  } catch (error) {
    assertEquals((error as { code?: string }).code, "ESRCH");
    return false;
  }
}

async function awaitEnd(pids: readonly number[]): Promise<void> {
  await waitUntil(() => Promise.resolve(!pids.some((pid) => sendIfThere(pid, 0))));
}
