import { assertEquals, assertMatch } from "@std/assert";
import { afterAll, beforeAll, describe, it } from "@std/testing/bdd";
import { execFileSync } from "node:child_process";
import { rmSync } from "node:fs";
import { chmod, copyFile, mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { COMMANDS, RUNTIMES } from "../support/runtime_server.ts";
import { findPort } from "../support/find_port.ts";
import { awaitAddress, type RunningProcess, startProcess } from "./run_process.ts";
import { createServingDatabase, type ServingDatabase, updateDeal } from "./serving_database.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const DENO_ARGUMENTS = ["run", "-A", "--no-config"];
const UID = "54321";
/** Where the system lets us: a view of the file system without a place to write, and process id 1. */
const JAIL = ["unshare", "--mount", "--pid", "--fork", "--mount-proc", "sh", "-c"];
const READ_ONLY = 'mount -o remount,ro,bind / && ! touch /tmp/written 2>/dev/null && exec "$@"';
const USER = ["setpriv", "--reuid", UID, "--regid", UID, "--clear-groups", "--no-new-privs"];
const CAN_JAIL = works([...JAIL, READ_ONLY, "sh", ...USER, "test", "-r", `${ROOT}package.json`]);
/** The bundle on each of them: Deno's own cache is what a container's image brings or a binary lacks. */
const BARE = {
  deno: ["env", "DENO_DIR=/no-such-folder", await findDeno(), ...DENO_ARGUMENTS, "dist/rowgate.js"],
  bun: [COMMANDS.bun[0]!, "dist/rowgate.js"],
  node: ["node", "dist/rowgate.js"],
  binary: [COMMANDS.binary[0]!],
} as const;

function works(command: readonly string[]): boolean {
  try {
    execFileSync(command[0]!, command.slice(1), { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

/** Returns a Deno that any user may run; npm keeps the one that runs this in a folder of its user. */
async function findDeno(): Promise<string> {
  if (!CAN_JAIL || works([...USER, "env", process.execPath, "--version"])) return process.execPath;
  const folder = await mkdtemp(join(tmpdir(), "rowgate-bare-"));
  process.on("exit", () => rmSync(folder, { recursive: true }));
  const copy = join(folder, "deno");
  await copyFile(process.execPath, copy);
  await chmod(folder, 0o755);
  await chmod(copy, 0o755);
  return copy;
}

let database: ServingDatabase;

beforeAll(async () => {
  database = await createServingDatabase();
});
afterAll(() => database.drop());

for (const runtime of [...RUNTIMES, "binary"] as const) {
  describe(`rowgate serve on ${runtime}, with as little as can be`, () => {
    /** Starts it without a home, and in the jail where that can be made. */
    function start(settings: Record<string, string>): RunningProcess {
      const variables = Object.entries(settings).map(([name, value]) => `${name}=${value}`);
      const bare = ["env", "-i", `PATH=${process.env.PATH}`, ...variables, ...BARE[runtime]];
      const command = CAN_JAIL ? [...JAIL, READ_ONLY, "sh", ...USER, ...bare] : bare;
      return startProcess(command[0]!, [...command.slice(1), "serve"], {});
    }

    it("needs no writable folder, no HOME and no known user, and ends on SIGTERM as process 1 [CF20]", async () => {
      const server = start({ DATABASE_URL: database.servingUrl, PORT: "0", TMPDIR: "/no-such" });
      const address = await awaitAddress(server);
      const { token } = database;
      const response = await updateDeal(address, { token, fid: 1, note: "bare" });
      assertEquals(response.status, 200, response.text);
      const pid = CAN_JAIL ? await findChild(server.pid) : server.pid;
      process.kill(pid, "SIGTERM");
      assertEquals(await server.ended, 0, server.output().stderr);
    });

    it("says in one line that the embedded Postgres has nowhere to write [CF20]", async () => {
      // Without the jail, a folder that cannot be written.
      const ROWGATE_DATA_DIR = CAN_JAIL ? `${ROOT}rowgate-bare` : "/proc/none";
      const { ended, output } = start({ ROWGATE_DATA_DIR, PORT: "0" });
      assertEquals(await ended, 1);
      assertMatch(
        output().stderr,
        /^First start: [^\n]*\nrowgate: the data directory \S+ cannot be written \((EROFS|EACCES|ENOENT)\)[^\n]*\n$/,
      );
    });

    it("keeps serving without standard output and error, closed, full or left by their reader [CF20]", async () => {
      const [command = "", ...before] = COMMANDS[runtime];
      for (const redirection of [">&- 2>&-", ">/dev/full 2>/dev/full", "2>&1 | head -n 1"]) {
        const piped = redirection.includes("|");
        const PORT = String(await findPort());
        const server = startProcess("sh", [
          "-c",
          `${piped ? "" : "exec "}"$@" ${redirection}`,
          "sh",
          command,
          ...before,
          "serve",
        ], { DATABASE_URL: database.servingUrl, PORT });
        const address = `http://127.0.0.1:${PORT}`;
        await awaitReady(address);
        const { token } = database;
        const response = await updateDeal(address, {
          token,
          fid: 1,
          note: redirection.slice(0, 9),
        });
        assertEquals(response.status, 200, response.text);
        const pid = piped ? await findChild(server.pid) : server.pid;
        process.kill(pid, "SIGTERM");
        assertEquals(await server.ended, 0);
      }
    });
  });
}

/** The oldest child of a process. */
async function findChild(pid: number): Promise<number> {
  while (true) {
    const { stdout } = await collect(["ps", "-o", "pid=", "--ppid", String(pid)]);
    const [child] = stdout.trim().split(/\s+/);
    if (child) return Number(child);
  }
}

async function collect([command = "", ...parameters]: readonly string[]) {
  const { ended, output } = startProcess(command, parameters);
  await ended;
  return output();
}

async function awaitReady(address: string): Promise<void> {
  while (
    !await fetch(`${address}/readyz`).then(
      (response) => response.text().then(() => response.ok),
      () => false,
    )
  ) {
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
