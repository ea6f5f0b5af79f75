import { spawn } from "node:child_process";
import process from "node:process";
import { HEAP_FLAGS } from "./heap_flags.ts";
import { refuseOffLinux } from "./refuse_off_linux.ts";
import type { Fork } from "./worker_process.ts";

/**
 * Deno does not tell a program its own flags (`process.execArgv` is empty, 2.9.6). Permissions can be
 * asked for, those that are granted whole; what else a worker needs of flags stands here, the heap of
 * `deno task start` among it.
 */
const FLAGS = ["run", "--no-prompt", "--unstable-net", HEAP_FLAGS];
const PERMISSIONS = ["net", "env", "read", "write", "sys", "run"] as const;

/** Starts the same script once more, with the permissions of this process; each listens for itself. */
export function openDenoWorkers(): { readonly refusal: string | undefined; readonly fork: Fork } {
  const granted = PERMISSIONS.filter((name) => isGranted({ name }));
  const flags = granted.map((name) => `--allow-${name}`);
  if (!granted.includes("read")) {
    const files = listFiles().filter((path) => isGranted({ name: "read", path }));
    if (files.length > 0) flags.push(`--allow-read=${files.join()}`);
  }
  const words = [...FLAGS, ...flags, Deno.mainModule, ...process.argv.slice(2)];
  return {
    refusal: refuse(granted),
    fork: (variables) =>
      spawn(process.execPath, words, {
        env: { ...process.env, ...variables },
        stdio: ["pipe", "inherit", "inherit", "ipc"],
      }),
  };
}

function refuse(granted: readonly string[]): string | undefined {
  if (Deno.build.standalone) return "a binary of Deno can not start itself; one of Bun can";
  if (!granted.includes("net") || !granted.includes("env")) {
    return "on Deno it needs --allow-net and --allow-env without a list behind them";
  }
  return isGranted({ name: "run", command: process.execPath })
    ? refuseOffLinux("Deno")
    : "Deno denies to start processes, it needs --allow-run=deno";
}

/** The files that serving reads on the operator's Postgres, where it may not read all. */
function listFiles(): readonly string[] {
  const { ROWGATE_POLICY, DATABASE_URL = "" } = process.env;
  const authorities = /[?&]sslrootcert=([^&]+)/.exec(DATABASE_URL)?.[1];
  return [ROWGATE_POLICY, authorities && decodeURIComponent(authorities)]
    .filter((path): path is string => path !== undefined && path !== "");
}

/** Whole, without a `--deny-` that takes of it. */
function isGranted(permission: Deno.PermissionDescriptor): boolean {
  const { state, partial } = Deno.permissions.querySync(permission);
  return state === "granted" && !partial;
}
