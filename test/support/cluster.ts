import { type ChildProcess, spawn } from "node:child_process";
import { chown, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { findBinaries } from "./postgres_binaries.ts";

/** A throw-away Postgres on a free loopback port. */
export interface Cluster {
  /** URL of the superuser, without a database at its end. */
  readonly url: string;
  /** Goes when the cluster goes. */
  readonly folder: string;
  readonly stop: () => Promise<void>;
}

interface User {
  readonly uid: number;
  readonly gid: number;
}

/** Tests lose nothing when the machine does. */
const SETTINGS: Readonly<Record<string, string>> = {
  listen_addresses: "127.0.0.1",
  fsync: "off",
  full_page_writes: "off",
  synchronous_commit: "off",
  max_connections: "300",
  shared_buffers: "128MB",
  deadlock_timeout: "50ms",
  autovacuum: "off",
};

/** Waits on a pipe of ours: it ends with this process, however that went. */
const WATCH = `trap '' INT HUP TERM
cat >/dev/null
kill -INT "$1" 2>/dev/null
tries=0
while kill -0 "$1" 2>/dev/null && [ $tries -lt 50 ]; do sleep 0.1; tries=$((tries + 1)); done
rm -rf "$2"`;

/**
 * Starts a cluster of its own in a temporary folder, as a user that is not root. It ends with this
 * process even when nobody stops it.
 */
export async function startCluster(): Promise<Cluster> {
  const folder = await mkdtemp(join(tmpdir(), "rowgate-test-"));
  const binaries = await findBinaries(folder);
  const user = await chooseUser();
  if (user !== undefined) await chown(folder, user.uid, user.gid);
  const password = crypto.randomUUID();
  const url = await startServer({ folder, binaries, user, password });
  return { ...url, folder };
}

interface StartOptions {
  readonly folder: string;
  readonly binaries: string;
  readonly user: User | undefined;
  readonly password: string;
}

async function startServer(options: StartOptions): Promise<Pick<Cluster, "url" | "stop">> {
  const { folder, binaries, user, password } = options;
  const data = join(folder, "data");
  const passwordFile = join(folder, "password");
  await writeFile(passwordFile, password, { mode: 0o600 });
  if (user !== undefined) await chown(passwordFile, user.uid, user.gid);
  const run = (name: string, parameters: string[]) =>
    spawn(join(binaries, name), parameters, {
      ...user,
      cwd: folder,
      stdio: ["ignore", "pipe", "pipe"],
      env: { PATH: process.env.PATH ?? "", LC_ALL: "C", TZ: "UTC" },
    });
  const access = ["-U", "postgres", "-A", "scram-sha-256", `--pwfile=${passwordFile}`];
  await succeed(run("initdb", ["-D", data, ...access, "-E", "UTF8", "--no-sync"]), "initdb");
  const port = await findFreePort();
  const settings = { ...SETTINGS, port: String(port), unix_socket_directories: "" };
  const parameters = Object.entries(settings).flatMap((
    [name, value],
  ) => ["-c", `${name}=${value}`]);
  const server = run("postgres", ["-D", data, ...parameters]);
  const watcher = watch(server, folder);
  await becomeReady(server);
  return {
    url: `postgres://postgres:${password}@127.0.0.1:${port}`,
    stop: async () => {
      watcher.stdin!.end();
      await new Promise((resolve) => watcher.once("exit", resolve));
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function watch(server: ChildProcess, folder: string): ChildProcess {
  return spawn("sh", ["-c", WATCH, "sh", String(server.pid), folder], {
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
  });
}

/** initdb refuses root: postgres where there is such a user, else nobody. */
async function chooseUser(): Promise<User | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  for (const name of ["postgres", "nobody"]) {
    const uid = Number(await read("id", ["-u", name]));
    const gid = Number(await read("id", ["-g", name]));
    if (uid > 0 && gid > 0) return { uid, gid };
  }
  throw new Error("Postgres does not run as root, and there is no user postgres or nobody");
}

async function read(command: string, parameters: string[]): Promise<string> {
  const child = spawn(command, parameters, { stdio: ["ignore", "pipe", "ignore"] });
  let text = "";
  child.stdout.on("data", (chunk) => text += chunk);
  await new Promise((resolve) => child.once("close", resolve));
  return text.trim();
}

async function succeed(child: ChildProcess, name: string): Promise<void> {
  let told = "";
  child.stderr?.on("data", (chunk) => told += chunk);
  child.stdout?.resume();
  const code = await new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  if (code !== 0) throw new Error(`${name} ended with ${code}: ${told}`);
}

/** The server says so itself on standard error. */
function becomeReady(server: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    let told = "";
    server.stdout?.resume();
    server.stderr!.on("data", (chunk) => {
      if (told.length > 100_000) return;
      told += chunk;
      if (told.includes("database system is ready to accept connections")) resolve();
    });
    server.once("error", reject);
    server.once("exit", (code) => reject(new Error(`postgres ended with ${code}: ${told}`)));
  });
}

/** Somebody else may take it before the server does; that has not been seen. */
function findFreePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}
