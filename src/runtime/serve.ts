import { IS_BUN, IS_DENO } from "./name.ts";

/**
 * The fetch handler; `peer` is the address at the other end, without the port, `target` the path as it
 * was sent where the URL of the request has it rewritten, `cut` ends the connection where a body that
 * breaks off does not.
 */
export type Handler = (
  request: Request,
  connection: {
    readonly peer: string | undefined;
    readonly target?: string | undefined;
    readonly cut?: () => void;
  },
) => Promise<Response>;

/** Where to listen, and how long a request may take to arrive. */
export interface ListenOptions {
  readonly host: string;
  /** 0: any free one. */
  readonly port: number;
  readonly requestTimeoutMs: number;
  /** Other processes listen on the same port. */
  readonly shared?: boolean;
}

/** A server that listens. */
export interface Server {
  readonly port: number;
  /** Takes no more connections; settles when those that were there are done. */
  readonly stop: () => Promise<void>;
  /** Cuts what is left. */
  readonly abort: () => void;
}

/** A server, and how it ends. */
export interface Served {
  /** `http://host:port`, as a client writes it. */
  readonly address: string;
  /** Finishes what runs, for so long at most, then cuts it. */
  readonly stop: (timeoutMs: number) => Promise<void>;
}

/** An answer that the handler has given is on its way for so long at most. */
const FLUSH_MS = 500;
/** So long a server has to stop; cut while it does, Deno's throws where nobody can catch it. */
const STOP_MS = 100;

/**
 * Serves the handler over HTTP with what the runtime has for it.
 * @throws {Error} when the address can not be listened on; its `code` says why
 * @see R8, R17
 */
export async function serve(handler: Handler, options: ListenOptions): Promise<Served> {
  // Counted, not kept: a set of promises would keep the answers alive.
  let running = 0;
  let rested: (() => void) | undefined;
  const end = () => {
    if (--running === 0) rested?.();
  };
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
      await within(new Promise<void>((resolve) => rested = resolve), endMs - performance.now());
    }
    await within(stopped, Math.min(FLUSH_MS, Math.max(STOP_MS, endMs - performance.now())));
    if (!done) server.abort();
  }

  const host = options.host.includes(":") ? `[${options.host}]` : options.host;
  return { address: `http://${host}:${server.port}`, stop };
}

async function listen(handler: Handler, options: ListenOptions): Promise<Server> {
  if (IS_DENO) return (await import("./deno.ts")).listen(handler, options);
  if (IS_BUN) return (await import("./bun.ts")).listen(handler, options);
  return await (await import("./node.ts")).listen(handler, options);
}

async function within(promise: Promise<unknown>, ms: number): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<void>((resolve) => timer = setTimeout(resolve, ms));
  await Promise.race([promise, late]);
  clearTimeout(timer);
}
