import { spawn } from "node:child_process";
import process from "node:process";
import type { Adapter, Handler, ListenOptions, Server, WorkerSupport } from "./adapter.ts";
import { explainNeedOfLinux, guessVersion, IS_BUN } from "./adapter.ts";

/** The members of Bun's server that are used. */
interface BunServer {
  readonly port: number;
  readonly requestIP: (request: Request) => { readonly address: string } | null;
  readonly stop: (closeActiveConnections?: boolean) => Promise<void>;
}

/** Bun's form of a handler. */
type Fetch = (request: Request, server: BunServer) => Promise<Response>;

/** The members of Bun that are used. */
interface BunRuntime {
  readonly serve: (options: {
    readonly hostname: string;
    readonly port: number;
    readonly reusePort: boolean;
    readonly idleTimeout: number;
    readonly maxRequestBodySize: number;
    readonly routes: Readonly<Record<string, Fetch>>;
    readonly fetch: Fetch;
  }) => BunServer;
}

/** Bun closes an idle connection, even while its answer is being made. */
const MAX_IDLE_SECONDS = 255;

/** Listens with Bun's own server. */
function listen(handler: Handler, { host, port, shared = false }: ListenOptions): Server {
  const { Bun } = globalThis as unknown as { readonly Bun: BunRuntime };
  const server = Bun.serve({
    hostname: host,
    port,
    reusePort: shared,
    idleTimeout: MAX_IDLE_SECONDS,
    // For longer bodies Bun itself responds with a 413 without a body, or resets the connection.
    maxRequestBodySize: Number.MAX_SAFE_INTEGER,
    routes: Object.fromEntries(ROUTES.map((route) => [route, answer])),
    fetch: answer,
  });

  function answer(request: Request, server: BunServer): Promise<Response> {
    const whole = withUrl(request);
    return handler(whole, {
      target: findTarget(request, whole.url),
      httpVersion: guessVersion(request),
      // A system call, so only on demand.
      get peer() {
        return server.requestIP(request)?.address;
      },
    });
  }

  return {
    port: server.port,
    stop: () => server.stop(false),
    abort() {
      server.stop(true).catch(() => {});
    },
  };
}

/** Without `Host`, as HTTP/1.0 allows, Bun's URL is the path alone. */
function withUrl(request: Request): Request {
  if (!request.url.startsWith("/") || request.headers.has("host")) return request;
  return new Request(`http://localhost${request.url}`, request);
}

/** Most segments of a path of the service. */
const MAX_SEGMENTS = 8;

/**
 * Bun resolves the path in its URL and keeps only that, but it matches routes against the path as it
 * was sent. These routes have the segments of that path as parameters, decoded.
 */
const ROUTES = [
  "/",
  ...Array.from({ length: MAX_SEGMENTS }, (_, most) => {
    const path = Array.from({ length: most + 1 }, (_, place) => `/:p${place}`).join("");
    return [path, `${path}/`];
  }).flat(),
];

/** Returns the path as it was sent; undefined when it is that of the URL. */
function findTarget(request: Request, url: string): string | undefined {
  const { params } = request as { readonly params?: Readonly<Record<string, string>> };
  if (params === undefined) return findUnrouted(url);
  let sent = "";
  let suspect = false;
  for (const place in params) {
    const segment = params[place]!;
    sent += `/${segment}`;
    suspect ||= segment === "." || segment === ".." || segment.includes("\\");
  }
  return suspect && !hasSegments(url, sent) ? sent : undefined;
}

/** No route matches empty segments or too many: a URL with neither had another path when it was sent. */
function findUnrouted(url: string): string | undefined {
  const path = new URL(url).pathname;
  return path.includes("//") || path.split("/").length > MAX_SEGMENTS + 1 ? undefined : `/${path}`;
}

function hasSegments(url: string, sent: string): boolean {
  const path = new URL(url).pathname;
  try {
    return decodeURIComponent(path).replace(/\/$/, "") === sent;
  } catch {
    // A path that is not UTF-8 is not one of the service either.
    return true;
  }
}

/** Starts the same command once more; each worker listens on the port itself. */
function openWorkers(): WorkerSupport {
  return {
    obstacle: explainNeedOfLinux("Bun"),
    fork: (variables) =>
      spawn(process.execPath, repeatCommand(), {
        env: { ...process.env, ...variables },
        stdio: ["pipe", "inherit", "inherit", "ipc"],
      }),
  };
}

/** Where the source lies in a binary that Bun has compiled. */
const EMBEDDED_SOURCE = /^(\/\$bunfs\/|[A-Z]:[\\/]~BUN[\\/])/i;

/** Returns the arguments of `process.execPath` that run the same script, or the same binary, again. */
function repeatCommand(): readonly string[] {
  const [, script = "", ...args] = process.argv;
  return [...(EMBEDDED_SOURCE.test(script) ? [] : [...process.execArgv, script]), ...args];
}

/** The members of Bun's process that Deno's types do not have. */
interface BunProcess {
  readonly execve: (file: string, args: string[], environment: Record<string, string>) => never;
}

/** JavaScriptCore reads them once, at its start. Its defaults are 0.333, 0 and 100000. */
const VARIABLES: Readonly<Record<string, string>> = {
  BUN_JSC_minEdenToOldGenerationRatio: "0.6",
  BUN_JSC_forceCodeBlockLiveness: "1",
  BUN_JSC_thresholdForFTLOptimizeAfterWarmUp: "10000",
};

/**
 * Sets three variables of Bun, unless they are set. With the first, Bun collects its whole heap as soon
 * as less than 60 % of it, not a third, is free for young objects: that takes less memory at the same
 * throughput. With the second, it keeps compiled code, which it would discard while no request comes.
 * With the third, it optimises a function after a tenth of the usual work. To apply them, the process
 * replaces itself once, by the same command and with the same id.
 * @see docs/decisions/0035-runtimes.md
 */
export function setBunVariables(): void {
  // A channel to the parent process would be lost.
  if (!IS_BUN || process.connected) return;
  if (Object.keys(VARIABLES).every((name) => name in process.env)) return;
  const environment = { ...VARIABLES, ...process.env as Record<string, string> };
  try {
    const { execPath, argv0 } = process;
    (process as unknown as BunProcess).execve(execPath, [argv0, ...repeatCommand()], environment);
  } catch {
    // Not available on this system, or the file is missing: it serves without the variables.
  }
}

/** What differs on Bun. */
export const BUN_ADAPTER: Adapter = { listen, openWorkers };
