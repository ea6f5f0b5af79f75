import type { ChildProcess } from "node:child_process";
import process from "node:process";

/** Whether this is Deno. */
export const IS_DENO = "Deno" in globalThis;
/** Whether this is Bun. */
export const IS_BUN = "Bun" in globalThis;

/**
 * Frees the memory of bytes that are no longer needed, where the runtime can (not Node 20). V8 counts it
 * as old until it is collected, and walks the whole heap when there is much of it.
 */
export function freeMemory({ buffer }: Uint8Array): void {
  (buffer as ArrayBuffer).transfer?.(0);
}

/** What `deno.ts`, `bun.ts` and `node.ts` each provide. */
export interface Adapter {
  /** Listens with the runtime's own server. */
  readonly listen: (handler: Handler, options: ListenOptions) => Server | Promise<Server>;
  readonly openWorkers: () => WorkerSupport;
}

/** Answers a request. */
export type Handler = (request: Request, connection: Connection) => Promise<Response>;

/** The connection that a request came on. */
export interface Connection {
  /** Address of the client, without the port. */
  readonly peer: string | undefined;
  /** The path as it was sent, where the URL of the request has another. */
  readonly target?: string | undefined;
  /** `1.0` or `1.1`, where the runtime says so; `1.0` also where there is no `Host`. */
  readonly httpVersion?: string | undefined;
  /** Closes the connection, where a body that breaks off does not. */
  readonly cut?: () => void;
  /**
   * Takes bytes of a body when the runtime has asked for those behind them. Returns whether their memory
   * may be used again; if not, it is freed at once or left to the collector.
   */
  readonly free?: (bytes: Uint8Array<ArrayBuffer>) => boolean;
}

/**
 * Guesses the version of HTTP, which neither Deno nor Bun gives (2.9, 1.4): without `Host` it is 1.0, which
 * 1.1 does not allow.
 */
export function guessVersion({ headers }: Request): string | undefined {
  return headers.has("host") ? undefined : "1.0";
}

/** Where to listen, and how long a request may take to arrive. */
export interface ListenOptions {
  readonly host: string;
  /** 0: any free one. */
  readonly port: number;
  readonly requestTimeoutMs: number;
  /** True when other processes listen on the same port. */
  readonly shared?: boolean;
}

/** A server that listens. */
export interface Server {
  readonly port: number;
  /** Takes no more connections; resolves when the open ones are closed. */
  readonly stop: () => Promise<void>;
  /** Closes what is still open. */
  readonly abort: () => void;
}

/** How several processes serve one port. */
export interface WorkerSupport {
  /** Why this runtime cannot do that here, in words for a person. */
  readonly obstacle: string | undefined;
  readonly fork: Fork;
}

/**
 * Starts this command once more, with its arguments and outputs, a channel for messages, a standard
 * input and these variables.
 */
export type Fork = (variables: Readonly<Record<string, string>>) => ChildProcess;

/** Says why a runtime cannot share a port on this system: Linux alone distributes the connections. */
export function explainNeedOfLinux(runtime: string): string | undefined {
  return process.platform === "linux"
    ? undefined
    : `${runtime} shares a port between processes on Linux alone; Node does so everywhere`;
}
