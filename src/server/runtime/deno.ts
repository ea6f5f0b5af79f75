import { spawn } from "node:child_process";
import process from "node:process";
import type { Adapter, Handler, ListenOptions, Server, WorkerSupport } from "./adapter.ts";
import { explainNeedOfLinux, freeMemory, guessVersion } from "./adapter.ts";
import { discardBody } from "./linger.ts";
import { V8_FLAGS } from "./v8_flags.ts";

/** Listens with Deno's own server. */
function listen(handler: Handler, { host, port, shared }: ListenOptions): Server {
  const aborter = new AbortController();
  const server = Deno.serve({
    hostname: host,
    port,
    // Unstable on Deno 2.9: even naming it asks for --unstable-net.
    ...(shared ? { reusePort: true } : {}),
    signal: aborter.signal,
    onListen() {},
  }, (request, { remoteAddr: { hostname: peer } }) => {
    const answer = handler(request, { peer, free, httpVersion: guessVersion(request) });
    answer.then(() => discardRest(request));
    return answer;
  });
  // Rejects when the signal cuts it.
  server.finished.catch(() => {});
  return {
    port: server.addr.port,
    stop: () => server.shutdown(),
    abort: () => aborter.abort(),
  };
}

/**
 * V8 counts the bytes of an export as old, and would walk the whole heap again and again. Deno holds
 * the memory of what it writes by itself, so a chunk may be detached from its array.
 * @see docs/decisions/0063-export.md
 */
function free(bytes: Uint8Array<ArrayBuffer>): boolean {
  freeMemory(bytes);
  return false;
}

/** Looks at the body only when it was not read: its stream costs more than its bytes. */
function discardRest(request: Request): void {
  if (!request.bodyUsed && request.body !== null) void discardBody(request.body.getReader());
}

/**
 * A program cannot read the flags of its own Deno (`process.execArgv` is empty, 2.9.6), so a worker gets
 * these, and each permission that this process has as a whole.
 */
const WORKER_FLAGS = ["run", "--no-prompt", "--unstable-net", V8_FLAGS];
const PERMISSIONS = ["net", "env", "read", "write", "sys", "run"] as const;

/** Starts the same script once more; each worker listens on the port itself. */
function openWorkers(): WorkerSupport {
  const granted = PERMISSIONS.filter((name) => isGranted({ name }));
  const flags = granted.map((name) => `--allow-${name}`);
  if (!granted.includes("read")) {
    const files = listFiles().filter((path) => isGranted({ name: "read", path }));
    if (files.length > 0) flags.push(`--allow-read=${files.join()}`);
  }
  const words = [...WORKER_FLAGS, ...flags, Deno.mainModule, ...process.argv.slice(2)];
  return {
    obstacle: explainObstacle(granted),
    fork: (variables) =>
      spawn(process.execPath, words, {
        env: { ...process.env, ...variables },
        stdio: ["pipe", "inherit", "inherit", "ipc"],
      }),
  };
}

function explainObstacle(granted: readonly string[]): string | undefined {
  if (Deno.build.standalone) return "a binary of Deno cannot start itself; one of Bun can";
  if (!granted.includes("net") || !granted.includes("env")) {
    return "on Deno it needs --allow-net and --allow-env without a list behind them";
  }
  return isGranted({ name: "run", command: process.execPath })
    ? explainNeedOfLinux("Deno")
    : "Deno denies to start processes, it needs --allow-run=deno";
}

/** The files that serving reads, where it may not read all. */
function listFiles(): readonly string[] {
  const { ROWGATE_POLICY, DATABASE_URL = "" } = process.env;
  const authorities = /[?&]sslrootcert=([^&]+)/.exec(DATABASE_URL)?.[1];
  return [ROWGATE_POLICY, authorities && decodeURIComponent(authorities)]
    .filter((path): path is string => path !== undefined && path !== "");
}

/** Reports whether a permission is granted as a whole, without a `--deny-` for a part of it. */
function isGranted(permission: Deno.PermissionDescriptor): boolean {
  const { state, partial } = Deno.permissions.querySync(permission);
  return state === "granted" && !partial;
}

/** What differs on Deno. */
export const DENO_ADAPTER: Adapter = { listen, openWorkers };
