import type { Handler, ListenOptions, Server } from "./serve.ts";

/** What is used of Bun's server. */
interface BunServer {
  readonly port: number;
  readonly requestIP: (request: Request) => { readonly address: string } | null;
  readonly stop: (closeActiveConnections?: boolean) => Promise<void>;
}

/** Answers a request. */
type Fetch = (request: Request, server: BunServer) => Promise<Response>;

/** What is used of Bun. */
interface BunRuntime {
  readonly serve: (options: {
    readonly hostname: string;
    readonly port: number;
    readonly reusePort: boolean;
    readonly idleTimeout: number;
    readonly routes: Readonly<Record<string, Fetch>>;
    readonly fetch: Fetch;
  }) => BunServer;
}

/** Bun closes a connection on which nothing moves, also while an answer is worked on. */
const MAX_IDLE_SECONDS = 255;

/** Listens with Bun's own server. */
export function listen(handler: Handler, { host, port, shared = false }: ListenOptions): Server {
  const { Bun } = globalThis as unknown as { readonly Bun: BunRuntime };
  const server = Bun.serve({
    hostname: host,
    port,
    reusePort: shared,
    idleTimeout: MAX_IDLE_SECONDS,
    routes: Object.fromEntries(ROUTES.map((route) => [route, answer])),
    fetch: answer,
  });

  function answer(request: Request, server: BunServer): Promise<Response> {
    const whole = withUrl(request);
    return handler(whole, {
      target: findTarget(request, whole.url),
      // Asks the kernel each time.
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

/** Without `Host`, as HTTP/1.0 allows, Bun gives the path alone for the URL. */
function withUrl(request: Request): Request {
  if (!request.url.startsWith("/") || request.headers.has("host")) return request;
  return new Request(`http://localhost${request.url}`, request);
}

/** A path that needs more is none of ours. */
const MAX_SEGMENTS = 8;

/**
 * Bun's URL has a path that is resolved already, and nothing else tells what was sent; but its routes
 * look at what was sent. These tell its segments, decoded.
 */
const ROUTES = [
  "/",
  ...Array.from({ length: MAX_SEGMENTS }, (_, most) => {
    const path = Array.from({ length: most + 1 }, (_, place) => `/:p${place}`).join("");
    return [path, `${path}/`];
  }).flat(),
];

/** Gives the path as it was sent when it is not that of the URL; else undefined. */
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

/** No route takes empty segments or too many: where the URL has neither, what was sent had. */
function findUnrouted(url: string): string | undefined {
  const path = new URL(url).pathname;
  return path.includes("//") || path.split("/").length > MAX_SEGMENTS + 1 ? undefined : `/${path}`;
}

function hasSegments(url: string, sent: string): boolean {
  const path = new URL(url).pathname;
  try {
    return decodeURIComponent(path).replace(/\/$/, "") === sent;
  } catch {
    // What is no UTF-8 is no name of ours either.
    return true;
  }
}
