import { type ChildProcess, spawn } from "node:child_process";
import { chown, mkdtemp, rm, statfs, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { encodePassword } from "./encode_password.ts";
import { findPort } from "./find_port.ts";
import { launchServer, read } from "./launch_server.ts";
import { copyVersion, findBinaries } from "./postgres_binaries.ts";
import { type PreparedData, preparedData } from "./shared_databases.ts";

/** A throw-away Postgres on a free loopback port. */
export interface Cluster {
  /** URL of the superuser, without a database at its end. */
  readonly url: string;
  /** Removed with the cluster. */
  readonly folder: string;
  /** The server's data directory; removed as well. */
  readonly data: string;
  /** The folder of Postgres's programs. */
  readonly binaries: string;
  readonly run: RunProgram;
  /** Ends the server as `pg_ctl stop -m` does, and starts it again after the body, however that ends. */
  readonly whileHalted: <T>(mode: HaltMode, body: () => Promise<T>) => Promise<T>;
  /** Ends the server and starts it again, on the same port. */
  readonly restart: (mode: HaltMode) => Promise<void>;
  /** Suspends all of its processes, and resumes them after the body, however that ends. */
  readonly whileFrozen: <T>(body: () => Promise<T>) => Promise<T>;
  /** Starts it where it has ended. */
  readonly start: () => Promise<void>;
  /** Ends it for good, whether it runs or not. */
  readonly stop: () => Promise<void>;
}

/** How a server ends: `immediate` is a crash. */
export type HaltMode = "fast" | "immediate";

/** Runs a program of Postgres in the cluster's folder, as its user. */
export type RunProgram = (name: string, parameters: readonly string[]) => ChildProcess;

/** How a cluster differs from that of the tests. */
export interface ClusterOptions {
  /** Its major version, one of those in `test/postgres`. */
  readonly major?: number;
  readonly settings?: Readonly<Record<string, string>>;
  /** True: its data is not in memory, though there is room. */
  readonly onDisk?: boolean;
  /** Fills the data directory. */
  readonly fill?: (data: string, run: RunProgram) => Promise<void>;
  /** True for a system identifier of its own: data that are copied have all the same. */
  readonly stranger?: boolean;
  /** The superuser's, when the data have one already. */
  readonly password?: string;
  /** Written into the data directory before the server starts, by name. */
  readonly files?: Readonly<Record<string, string>>;
}

interface User {
  readonly uid: number;
  readonly gid: number;
}

/** Nothing is lost when the machine crashes in the middle of a test. */
const SETTINGS: Readonly<Record<string, string>> = {
  listen_addresses: "127.0.0.1",
  fsync: "off",
  full_page_writes: "off",
  synchronous_commit: "off",
  max_connections: "300",
  shared_buffers: "128MB",
  deadlock_timeout: "50ms",
  autovacuum: "off",
  // As in the sessions of the service. A digest of all rows is compiled in a tenth of a second otherwise.
  jit: "off",
};

const MEMORY = "/dev/shm";
const ROOM_BYTES = 4 * 2 ** 30;

/**
 * Starts a cluster in a temporary folder, as a user other than root. It ends with this process, even
 * when `stop` is not called.
 */
export async function startCluster(options: ClusterOptions = {}): Promise<Cluster> {
  const { fill, major, onDisk = false, stranger = false } = options;
  const isUsual = fill === undefined && major === undefined && !stranger;
  const prepared = isUsual ? await preparedData() : undefined;
  const password = options.password ?? prepared?.password ?? crypto.randomUUID();
  const place = await makePlace(password, major);
  const { folder, binaries, user, run } = place;
  const store = await mkdtemp(join(onDisk ? tmpdir() : await chooseStore(), "rowgate-test-"));
  if (user !== undefined) await chown(store, user.uid, user.gid);
  const data = join(store, "data");
  if (fill !== undefined) await fill(data, run);
  else if (prepared !== undefined) await copyData(prepared.data, data);
  else await initialise(place, { data, password });
  for (const [name, text] of Object.entries(options.files ?? {})) {
    await writeFile(join(data, name), text, { mode: 0o600 });
    if (user !== undefined) await chown(join(data, name), user.uid, user.gid);
  }
  const port = await findPort();
  const settings = {
    ...SETTINGS,
    ...options.settings,
    port: String(port),
    unix_socket_directories: "",
  };
  const parameters = Object.entries(settings).flatMap(([name, value]) => [
    "-c",
    `${name}=${value}`,
  ]);
  const launch = () => launchServer(run("postgres", ["-D", data, ...parameters]), [folder, store]);
  let server = await launch();
  const halt = (mode: HaltMode) => server.end(mode === "fast" ? "SIGINT" : "SIGQUIT");
  const start = async () => {
    server = await launch();
  };
  return {
    url: `postgres://postgres:${password}@127.0.0.1:${port}`,
    folder,
    data,
    binaries,
    run,
    start,
    restart: async (mode) => {
      await halt(mode);
      await start();
    },
    async whileHalted(mode, body) {
      await halt(mode);
      try {
        return await body();
      } finally {
        if (!server.isRunning()) await start();
      }
    },
    async whileFrozen(body) {
      try {
        await server.signal("SIGSTOP");
        return await body();
      } finally {
        await server.signal("SIGCONT");
      }
    },
    stop: async () => {
      await server.signal("SIGCONT");
      await server.end("SIGINT");
      for (const gone of [folder, store]) await rm(gone, { recursive: true, force: true });
    },
  };
}

/** Data that clusters can begin with, as initdb makes them. */
export interface MadeData extends PreparedData {
  readonly remove: () => Promise<void>;
}

/** Makes data in a temporary folder. */
export async function makeData(): Promise<MadeData> {
  const password = crypto.randomUUID();
  const place = await makePlace(password);
  const data = join(place.folder, "data");
  await initialise(place, { data, password });
  return { data, password, remove: () => rm(place.folder, { recursive: true, force: true }) };
}

/** Where the programs of Postgres run. */
interface Place extends Pick<Cluster, "folder" | "binaries" | "run"> {
  readonly user: User | undefined;
}

async function makePlace(password: string, major?: number): Promise<Place> {
  const folder = await mkdtemp(join(tmpdir(), "rowgate-test-"));
  const binaries = await (major === undefined ? findBinaries(folder) : copyVersion(major, folder));
  const user = await chooseUser();
  if (user !== undefined) await chown(folder, user.uid, user.gid);
  // For a user or group, Deno forks: see startCleaner.
  const words = user === undefined
    ? []
    : ["setpriv", `--reuid=${user.uid}`, `--regid=${user.gid}`, "--clear-groups"];
  const run: RunProgram = (name, parameters) => {
    const [command = "", ...others] = [...words, join(binaries, name), ...parameters];
    return spawn(command, others, {
      cwd: folder,
      stdio: ["ignore", "pipe", "pipe"],
      env: { PATH: process.env.PATH ?? "", LC_ALL: "C", TZ: "UTC", PGPASSWORD: password },
    });
  };
  return { folder, binaries, user, run };
}

async function initialise(
  { folder, user, run }: Place,
  { data, password }: PreparedData,
): Promise<void> {
  const passwordFile = join(folder, "password");
  await writeFile(passwordFile, encodePassword(password), { mode: 0o600 });
  if (user !== undefined) await chown(passwordFile, user.uid, user.gid);
  const access = ["-U", "postgres", "-A", "scram-sha-256", `--pwfile=${passwordFile}`];
  await succeed(run("initdb", ["-D", data, ...access, "-E", "UTF8", "--no-sync"]), "initdb");
}

/** Copies the data of a server that does not run, with their owner and rights, on which Postgres insists. */
export async function copyData(from: string, to: string): Promise<void> {
  await succeed(spawn("cp", ["-a", from, to]), "cp");
}

/** The data are in memory if there is room, since a database is some 300 files to make and drop. */
async function chooseStore(): Promise<string> {
  const { bavail, bsize } = await statfs(MEMORY).catch(() => ({ bavail: 0, bsize: 0 }));
  return bavail * bsize >= ROOM_BYTES ? MEMORY : tmpdir();
}

/** initdb does not run as root: the user `postgres` where there is one, else `nobody`. */
async function chooseUser(): Promise<User | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  for (const name of ["postgres", "nobody"]) {
    const uid = Number(await read("id", ["-u", name]));
    const gid = Number(await read("id", ["-g", name]));
    if (uid > 0 && gid > 0) return { uid, gid };
  }
  throw new Error("Postgres does not run as root, and there is no user postgres or nobody");
}

/** Waits for a program; rejects with its standard error when it fails. */
export async function succeed(child: ChildProcess, name: string): Promise<void> {
  let output = "";
  child.stderr?.on("data", (chunk) => output += chunk);
  child.stdout?.resume();
  const code = await new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  if (code !== 0) throw new Error(`${name} ended with ${code}: ${output}`);
}
