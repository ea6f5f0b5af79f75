import { spawn, spawnSync } from "node:child_process";
import { access, chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { findPort } from "./find_port.ts";
import { waitUntil } from "./wait_until.ts";

/** A PgBouncer, in transaction mode unless asked otherwise, with fewer connections than it is asked for. */
export interface Pooler {
  /** The given URL, through the pooler. */
  readonly through: (url: string) => string;
  /** False once it has ended by itself. */
  readonly isAlive: () => boolean;
  readonly stop: () => Promise<void>;
}

/** What a pooler is started with. */
export interface PoolerOptions {
  /** Connections to the server; two when undefined. */
  readonly connections?: number;
  readonly mode?: "transaction" | "session";
  /** Left out: any that is free. */
  readonly port?: number;
  /** More lines of its settings. */
  readonly settings?: string;
}

/** Where packages put it. */
const FOLDERS = ["/usr/sbin", "/usr/bin", "/usr/local/bin", "/opt/homebrew/bin"];
const SERVER_CONNECTIONS = 2;

/** Returns the program to test with: that of `ROWGATE_TEST_PGBOUNCER`, or an installed one. */
export async function findPooler(): Promise<string | undefined> {
  const named = process.env.ROWGATE_TEST_PGBOUNCER;
  if (named !== undefined) return named;
  for (const folder of FOLDERS) {
    const file = join(folder, "pgbouncer");
    if (await access(file).then(() => true, () => false)) return file;
  }
  return undefined;
}

/** Reports whether it can keep the prepared statements of its clients, as it does from 1.21 on. */
export function keepsStatements(program: string): boolean {
  const text = spawnSync(program, ["--version"], { encoding: "utf8" }).stdout;
  const [, major, minor] = /^PgBouncer (\d+)\.(\d+)/.exec(text) ?? [];
  return Number(major) > 1 || Number(minor) >= 21;
}

const ATTEMPTS = 3;
/** It has ended by then if it could not listen. */
const LISTENING_MS = 300;

/** Starts a pooler before the server of a URL, for the role of that URL. */
export async function startPooler(
  program: string,
  target: string,
  options: PoolerOptions = {},
): Promise<Pooler> {
  for (let attempt = 1;; attempt++) {
    // Another process may have taken the port since it was found free.
    const started = await tryPooler(program, target, options);
    if (started !== undefined) return started;
    if (attempt === ATTEMPTS) throw new Error("pgbouncer did not start");
  }
}

async function tryPooler(
  program: string,
  target: string,
  { connections = SERVER_CONNECTIONS, mode = "transaction", settings: more = "", ...options }:
    PoolerOptions,
): Promise<Pooler | undefined> {
  const { hostname, port: targetPort, username, password } = new URL(target);
  const folder = await mkdtemp(join(tmpdir(), "rowgate-pooler-"));
  const port = options.port ?? await findPort();
  const users = join(folder, "users.txt");
  const settings = join(folder, "pgbouncer.ini");
  await writeFile(users, `"${username}" "${password}"\n`);
  await writeFile(
    settings,
    `[databases]
* = host=${hostname} port=${targetPort}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = scram-sha-256
auth_file = ${users}
pool_mode = ${mode}
default_pool_size = ${connections}
server_login_retry = 1
${more}
`,
  );
  await chmod(folder, 0o755);
  // It does not run as root.
  const user = process.getuid?.() === 0 ? ["-u", "nobody"] : [];
  const child = spawn(program, [...user, settings], { stdio: "ignore" });
  const ended = new Promise((resolve) => child.once("exit", resolve));
  await waitUntil(async () => child.exitCode !== null || await isOpen(port));
  await new Promise((resolve) => setTimeout(resolve, LISTENING_MS));
  if (child.exitCode !== null) {
    await rm(folder, { recursive: true, force: true });
    return undefined;
  }
  return {
    through: (url) => {
      const changed = new URL(url);
      changed.host = `127.0.0.1:${port}`;
      return changed.href;
    },
    isAlive: () => child.exitCode === null && child.signalCode === null,
    stop: async () => {
      child.kill("SIGKILL");
      await ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function isOpen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.once("error", () => resolve(false));
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
  });
}
