import { spawn } from "node:child_process";
import { createWriteStream } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { findPort } from "../../test/support/find_port.ts";

/** An n8n that runs, with an owner who has signed in. */
export interface N8n {
  readonly address: string;
  /** Sends a request of its editor, and returns `data` of the response. */
  readonly rest: <T>(method: string, path: string, body?: unknown) => Promise<T>;
  readonly stop: () => Promise<void>;
}

const START_MS = 300_000;
/** A new n8n asks for an owner first. */
const OWNER = {
  email: "owner@example.com",
  firstName: "Ada",
  lastName: "Owner",
  password: "Correct-Horse-1",
};
/** It calls no server outside this machine. */
const QUIET = {
  N8N_DIAGNOSTICS_ENABLED: "false",
  N8N_VERSION_NOTIFICATIONS_ENABLED: "false",
  N8N_TEMPLATES_ENABLED: "false",
  N8N_PERSONALIZATION_ENABLED: "false",
  N8N_HIRING_BANNER_ENABLED: "false",
  EXTERNAL_FRONTEND_HOOKS_URLS: "",
  N8N_SECURE_COOKIE: "false",
};

/**
 * Starts n8n on a free port of this machine, with its files in a folder of its own and its tables in the
 * database `postgres` of a cluster.
 * @throws {Error} if it does not serve within five minutes; its log is in the folder
 */
export async function startN8n(
  { node, n8n, folder, databaseUrl }: {
    readonly node: string;
    /** The folder that n8n is installed in. */
    readonly n8n: string;
    readonly folder: string;
    readonly databaseUrl: string;
  },
): Promise<N8n> {
  const database = new URL(databaseUrl);
  const port = await findPort();
  const address = `http://127.0.0.1:${port}`;
  const child = spawn(node, [join(n8n, "node_modules/n8n/bin/n8n"), "start"], {
    env: {
      ...process.env,
      ...QUIET,
      // Its driver of SQLite is compiled when it is installed.
      DB_TYPE: "postgresdb",
      DB_POSTGRESDB_HOST: database.hostname,
      DB_POSTGRESDB_PORT: database.port,
      DB_POSTGRESDB_USER: database.username,
      DB_POSTGRESDB_PASSWORD: database.password,
      DB_POSTGRESDB_DATABASE: "postgres",
      N8N_PORT: String(port),
      N8N_LISTEN_ADDRESS: "127.0.0.1",
      N8N_RUNNERS_BROKER_PORT: String(await findPort()),
      N8N_USER_FOLDER: folder,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const log = createWriteStream(join(folder, "n8n.log"));
  child.stdout!.pipe(log);
  child.stderr!.pipe(log);
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const stop = async () => {
    child.kill("SIGTERM");
    await ended;
  };
  const end = Date.now() + START_MS;
  while (!await isReady(`${address}/healthz/readiness`)) {
    if (Date.now() > end || child.exitCode !== null) {
      await stop();
      throw new Error(`n8n did not start: see ${folder}/n8n.log`);
    }
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
  let cookie = "";
  async function rest<T>(method: string, path: string, body?: unknown): Promise<T> {
    const response = await fetch(`${address}/rest/${path}`, {
      method,
      headers: { "content-type": "application/json", cookie },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} /rest/${path}: ${response.status} ${text}`);
    const [given] = response.headers.getSetCookie();
    if (given !== undefined) [cookie = ""] = given.split(";");
    return JSON.parse(text).data;
  }
  await rest("POST", "owner/setup", OWNER);
  return { address, rest, stop };
}

async function isReady(address: string): Promise<boolean> {
  const response = await fetch(address).catch(() => undefined);
  await response?.body?.cancel();
  return response?.ok === true;
}
