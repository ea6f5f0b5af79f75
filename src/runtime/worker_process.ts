import type { ChildProcess } from "node:child_process";
import { IS_BUN, IS_DENO } from "./name.ts";
import { WORKER_VARIABLE } from "./supervisor_link.ts";

/** How a process ended. */
export interface Ended {
  /** Undefined when a signal ended it, or it could not be started. */
  readonly code: number | undefined;
  readonly signal: string | undefined;
}

/** A process that serves a part of the requests, as its supervisor sees it. */
export interface WorkerProcess {
  readonly pid: number | undefined;
  /** What can not be sent any more is forgotten. */
  readonly send: (message: unknown) => void;
  readonly ended: Promise<Ended>;
  /** Lets it finish what runs, and end. */
  readonly stop: () => void;
  /** Ends it at once. */
  readonly kill: () => void;
}

/** How a worker is started. */
export interface WorkerOptions {
  /** Which it is, of how many: `1/4`. */
  readonly place: string;
  readonly port: number;
  /** Hears what it says. */
  readonly told: (message: unknown) => void;
}

/** Starts workers: this very command again, with its arguments. */
export interface WorkerStarter {
  /** Why it can not be done here, in a person's words. */
  readonly refusal: string | undefined;
  readonly start: (options: WorkerOptions) => WorkerProcess;
}

/** Makes a process with a channel and a standard input from this one, and with this one's outputs. */
export type Fork = (variables: Readonly<Record<string, string>>) => ChildProcess;

/** Gives what starts workers on this runtime. */
export async function openWorkerStarter(): Promise<WorkerStarter> {
  const { refusal, fork } = await choose();
  return { refusal, start: (options) => startWorker(fork, options) };
}

async function choose(): Promise<{ readonly refusal?: string | undefined; readonly fork: Fork }> {
  if (IS_DENO) return (await import("./deno_workers.ts")).openDenoWorkers();
  if (IS_BUN) return (await import("./bun_workers.ts")).openBunWorkers();
  return (await import("./node_workers.ts")).openNodeWorkers();
}

function startWorker(fork: Fork, { place, port, told }: WorkerOptions): WorkerProcess {
  const child = fork({ [WORKER_VARIABLE]: place, PORT: String(port) });
  child.on("message", told);
  // One that has just ended by itself hears no more.
  child.stdin?.on("error", () => {});
  const ended = new Promise<Ended>((resolve) => {
    child.once("error", () => resolve({ code: undefined, signal: undefined }));
    child.once(
      "exit",
      (code, signal) => resolve({ code: code ?? undefined, signal: signal ?? undefined }),
    );
  });
  return {
    pid: child.pid,
    ended,
    send(message) {
      if (child.connected) child.send(message as object, () => {});
    },
    // No signal: on Deno 2.9 a child that was sent one takes no second, and hides its exit code.
    stop() {
      child.stdin?.end();
    },
    kill() {
      child.kill("SIGKILL");
    },
  };
}
