import { spawn } from "node:child_process";
import process from "node:process";
import { refuseOffLinux } from "./refuse_off_linux.ts";
import type { Fork } from "./worker_process.ts";

/** Where the source lies in a binary that Bun has compiled. */
const EMBEDDED = /^(\/\$bunfs\/|[A-Z]:[\\/]~BUN[\\/])/i;

/** Starts the same script, or the same binary, once more; each listens on the port for itself. */
export function openBunWorkers(): { readonly refusal: string | undefined; readonly fork: Fork } {
  const [, script = "", ...args] = process.argv;
  const before = EMBEDDED.test(script) ? [] : [...process.execArgv, script];
  return {
    refusal: refuseOffLinux("Bun"),
    fork: (variables) =>
      spawn(process.execPath, [...before, ...args], {
        env: { ...process.env, ...variables },
        stdio: ["pipe", "inherit", "inherit", "ipc"],
      }),
  };
}
