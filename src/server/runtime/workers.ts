import { type AddressInfo, createServer } from "node:net";
import { availableParallelism } from "node:os";
import process from "node:process";
import type { Fork } from "./adapter.ts";
import { loadAdapter } from "./serve.ts";

/** Returns how many processors this process may use. */
export function countProcessors(): number {
  return availableParallelism();
}

/** Where a service is to listen. */
export interface Address {
  readonly host: string;
  /** 0: any free one. */
  readonly port: number;
}

/**
 * Returns the port if it is free. Workers share it, so none of them would notice that another service
 * uses it.
 * @throws {Error} when it cannot listen on the address; its `code` says why
 */
export async function claimPort({ host, port }: Address): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen({ host, port, exclusive: true }, resolve);
  });
  const { port: claimed } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return claimed;
}

/** How a process ended. */
export interface Ended {
  /** Undefined when a signal ended it, or it could not be started. */
  readonly code: number | undefined;
  readonly signal: string | undefined;
}

/** A worker, as its supervisor sees it. */
export interface WorkerProcess {
  readonly pid: number | undefined;
  /** Sends a message; drops it when the worker has ended. */
  readonly send: (message: unknown) => void;
  readonly ended: Promise<Ended>;
  /** Lets it finish its requests, and end. */
  readonly stop: () => void;
  /** Ends it at once. */
  readonly kill: () => void;
}

/** How a worker is started. */
export interface WorkerOptions {
  /** The number of the worker, and of all: `1/4`. */
  readonly place: string;
  readonly port: number;
  readonly onMessage: (message: unknown) => void;
}

/** Starts workers: this very command again, with its arguments. */
export interface WorkerStarter {
  /** Why this runtime cannot have workers here, in words for a person. */
  readonly obstacle: string | undefined;
  readonly start: (options: WorkerOptions) => WorkerProcess;
}

/** Returns what starts workers on this runtime. */
export async function openWorkerStarter(): Promise<WorkerStarter> {
  const { openWorkers } = await loadAdapter();
  const { obstacle, fork } = openWorkers();
  return { obstacle, start: (options) => startWorker(fork, options) };
}

function startWorker(fork: Fork, { place, port, onMessage }: WorkerOptions): WorkerProcess {
  const child = fork({ [WORKER_VARIABLE]: place, PORT: String(port) });
  child.on("message", onMessage);
  // A worker that has just ended cannot be written to.
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
    // Not by a signal: on Deno 2.9, a child that got one accepts no second one, and has no exit code.
    stop() {
      child.stdin?.end();
    },
    kill() {
      child.kill("SIGKILL");
    },
  };
}

/** Set only by a supervisor. It is not a setting, so it has another prefix. */
const WORKER_VARIABLE = "_ROWGATE_WORKER";

/** A worker's connection to its supervisor. */
export interface SupervisorLink {
  /** Which of the workers this is, from 1 on. */
  readonly worker: number;
  /** How many there are. */
  readonly workers: number;
  /** Sends a message; drops it when the supervisor is gone. */
  readonly send: (message: unknown) => void;
  readonly onMessage: (listener: (message: unknown) => void) => void;
  /** Calls back when the supervisor stops this process, or is gone. */
  readonly onEnd: (listener: () => void) => void;
}

/** Connects to the supervisor that started this process; undefined when none did. */
export function openSupervisorLink(): SupervisorLink | undefined {
  const place = /^(\d+)\/(\d+)$/.exec(process.env[WORKER_VARIABLE] ?? "");
  if (place === null || process.send === undefined) return undefined;
  return {
    worker: Number(place[1]),
    workers: Number(place[2]),
    send(message) {
      if (process.connected) process.send?.(message, undefined, undefined, () => {});
    },
    onMessage(listener) {
      process.on("message", listener);
    },
    // Standard input ends when the supervisor does. The channel's end is not reported on Deno 2.9 when a
    // message was on its way to a supervisor that was killed.
    onEnd(listener) {
      process.stdin.on("end", listener).resume();
    },
  };
}
