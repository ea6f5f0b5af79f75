import { chown, mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import process from "node:process";
import postgres from "postgres";
import type { Sql } from "../../src/database/postgres/driver.ts";
import { findBinaries } from "../../test/support/postgres_binaries.ts";
import { fillDatabase, printDataset, type Size } from "./dataset.ts";
import { capture, findFreePort, launch, until } from "./processes.ts";

/** A Postgres of the benchmark's own. */
export interface Cluster {
  readonly pid: number;
  readonly version: string;
  /** URL of a database, for the owner of all or for the role that serves. */
  readonly url: (database: string, role?: "postgres" | "app") => string;
  readonly connect: (database: string) => Sql;
  /** Makes a fresh copy of the data of a size; made once and kept for later runs. */
  readonly copy: (size: Size, database: string) => Promise<void>;
  /** Makes a database for the role that serves; made once and kept for later runs. */
  readonly make: (database: string, fill: (sql: Sql) => Promise<void>) => Promise<void>;
  readonly stop: () => Promise<void>;
}

/** Commits do not wait for the disk, which is the same for all; the table is vacuumed between turns. */
const SETTINGS = {
  listen_addresses: "127.0.0.1",
  unix_socket_directories: "",
  shared_buffers: "1GB",
  jit: "off",
  synchronous_commit: "off",
  // A benchmark runs up to 21 services with a pool of 10 each.
  max_connections: "300",
  max_wal_size: "4GB",
  autovacuum: "off",
};

const PASSWORD = "bench";

/**
 * Starts the cluster in its kept folder: `ROWGATE_BENCH_DIR`, or `rowgate-bench` where temporary
 * files go, because the server is another user when we are root.
 */
export async function startCluster(): Promise<Cluster> {
  const folder = process.env.ROWGATE_BENCH_DIR ?? join(tmpdir(), "rowgate-bench");
  const binaries = await findBinaries(folder);
  const version = (await capture([join(binaries, "postgres"), "--version"])).trim();
  const data = join(folder, `postgres-${/\d+/.exec(version)?.[0]}`);
  const user = await prepareFolder(data);
  if (await stat(join(data, "PG_VERSION")).then(() => false, () => true)) {
    const passwordFile = join(folder, "password");
    await writeFile(passwordFile, PASSWORD);
    const access = ["-U", "postgres", "-A", "scram-sha-256", `--pwfile=${passwordFile}`];
    const made = launch([join(binaries, "initdb"), "-D", data, ...access, "-E", "UTF8"], {
      ...user,
      cwd: folder,
      environment: { LC_ALL: "C.UTF-8", TZ: "UTC" },
    });
    await until(() => Promise.resolve(made.exitCode() === 0), made);
  }
  const port = await findFreePort();
  const settings = Object.entries({ ...SETTINGS, port: String(port) });
  const server = launch(
    [join(binaries, "postgres"), "-D", data, ...settings.flatMap(([k, v]) => ["-c", `${k}=${v}`])],
    { ...user, cwd: folder, environment: { LC_ALL: "C.UTF-8", TZ: "UTC" } },
  );
  const url = (database: string, role = "postgres") =>
    `postgres://${role}:${PASSWORD}@127.0.0.1:${port}/${database}`;
  const connect = (database: string) =>
    postgres(url(database), { max: 1, onnotice() {}, connect_timeout: 5 }) as Sql;
  await until(async () => {
    const sql = connect("postgres");
    await sql`select 1`.finally(() => sql.end());
    return true;
  }, server);
  return {
    pid: server.pid,
    version,
    url,
    connect,
    copy: (size, database) => copyData({ connect }, size, database),
    make: (database, fill) => makeOnce({ connect }, database, fill),
    stop: () => server.stop("SIGINT"),
  };
}

/** The template's name is a digest of the data, so that other data is another database. */
async function copyData(
  { connect }: Pick<Cluster, "connect">,
  size: Size,
  database: string,
): Promise<void> {
  const text = new TextEncoder().encode(printDataset(size).join(";"));
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", text));
  const template = `data_${digest.slice(0, 6).toHex()}`;
  await makeOnce({ connect }, template, async (own) => {
    console.log(`making ${size.rows} rows of ${size.tenants} tenants, once`);
    await fillDatabase(own, size);
    await own.unsafe("grant select, update on contacts to app");
  });
  const sql = connect("postgres");
  try {
    await sql.unsafe(`drop database if exists ${database} with (force)`);
    await sql.unsafe(`create database ${database} template ${template} strategy file_copy`);
    // Rowgate makes a schema of its own for its tokens.
    await sql.unsafe(`grant create on database ${database} to app`);
    await sql.unsafe("checkpoint");
  } finally {
    await sql.end();
  }
}

async function makeOnce(
  { connect }: Pick<Cluster, "connect">,
  database: string,
  fill: (sql: Sql) => Promise<void>,
): Promise<void> {
  const making = `${database}_making`;
  const sql = connect("postgres");
  try {
    if ((await sql`select from pg_roles where rolname = 'app'`).length === 0) {
      await sql.unsafe(`create role app login password '${PASSWORD}'`);
    }
    if ((await sql`select from pg_database where datname = ${database}`).length > 0) return;
    await sql.unsafe(`drop database if exists ${making} with (force)`);
    await sql.unsafe(`create database ${making}`);
    await sql.unsafe(`grant create on database ${making} to app`);
    const own = connect(making);
    await fill(own).finally(() => own.end());
    await sql.unsafe(`alter database ${making} rename to ${database}`);
  } finally {
    await sql.end();
  }
}

/** Postgres does not run as root: the folder then belongs to the user postgres, or nobody. */
async function prepareFolder(data: string): Promise<{ uid?: number; gid?: number }> {
  await mkdir(dirname(data), { recursive: true });
  await mkdir(data, { recursive: true, mode: 0o700 });
  if (process.getuid?.() !== 0) return {};
  const users = await readFile("/etc/passwd", "utf8");
  const found = /^(?:postgres):[^:]*:(\d+):(\d+)/m.exec(users) ??
    /^nobody:[^:]*:(\d+):(\d+)/m.exec(users);
  const [uid, gid] = [Number(found?.[1]), Number(found?.[2])];
  await chown(data, uid, gid);
  return { uid, gid };
}
