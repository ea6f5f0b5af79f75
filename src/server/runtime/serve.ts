import type { Adapter, Handler, ListenOptions } from "./adapter.ts";
import { IS_BUN, IS_DENO } from "./adapter.ts";
import { awaitHeld } from "./hold_stop.ts";

/** A server with an address. */
export interface Served {
  /** `http://host:port`, as a client writes it. */
  readonly address: string;
  /** Waits for the requests in flight, at most so many milliseconds, then closes their connections. */
  readonly stop: (timeoutMs: number) => Promise<void>;
}

/** Time for sending a response that the handler has returned. */
const FLUSH_MS = 500;
/**
 * Time for a server to stop. If it is aborted earlier, Deno's throws an error that cannot be caught.
 */
const STOP_MS = 100;

/**
 * Serves the handler over HTTP with the runtime's own server.
 * @throws {Error} when it cannot listen on the address; its `code` says why
 * @see R8, R17
 */
export async function serve(handler: Handler, options: ListenOptions): Promise<Served> {
  // A count: a set of promises would keep the answers alive. @see docs/decisions/0035-runtimes.md
  let running = 0;
  let drained: (() => void) | undefined;
  const end = () => {
    if (--running === 0) drained?.();
  };
  const { listen } = await loadAdapter();
  const server = await listen((request, connection) => {
    const answer = handler(request, connection);
    running++;
    answer.then(end, end);
    return answer;
  }, options);

  async function stop(timeoutMs: number): Promise<void> {
    const endMs = performance.now() + timeoutMs;
    let done = false;
    const stopped = server.stop().catch(() => {}).then(() => done = true);
    while (running > 0 && performance.now() < endMs) {
      await within(new Promise<void>((resolve) => drained = resolve), endMs - performance.now());
    }
    await within(awaitHeld(), Math.max(0, endMs - performance.now()));
    await within(stopped, Math.min(FLUSH_MS, Math.max(STOP_MS, endMs - performance.now())));
    if (!done) server.abort();
  }

  const host = options.host.includes(":") ? `[${options.host}]` : options.host;
  return { address: `http://${host}:${server.port}`, stop };
}

/** Returns the adapter of the runtime that this is. */
export async function loadAdapter(): Promise<Adapter> {
  if (IS_DENO) return (await import("./deno.ts")).DENO_ADAPTER;
  if (IS_BUN) return (await import("./bun.ts")).BUN_ADAPTER;
  return (await import("./node.ts")).NODE_ADAPTER;
}

async function within(promise: Promise<unknown>, ms: number): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<void>((resolve) => timer = setTimeout(resolve, ms));
  await Promise.race([promise, late]);
  clearTimeout(timer);
}
