import { spawn } from "node:child_process";
import process from "node:process";
import { repeatCommand } from "./bun_command.ts";
import { refuseOffLinux } from "./refuse_off_linux.ts";
import type { Fork } from "./worker_process.ts";

/** Starts the same command once more; each listens on the port for itself. */
export function openBunWorkers(): { readonly refusal: string | undefined; readonly fork: Fork } {
  return {
    refusal: refuseOffLinux("Bun"),
    fork: (variables) =>
      spawn(process.execPath, repeatCommand(), {
        env: { ...process.env, ...variables },
        stdio: ["pipe", "inherit", "inherit", "ipc"],
      }),
  };
}
