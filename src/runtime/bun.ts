import type { Handler, ListenOptions, Server } from "./serve.ts";

/** What is used of Bun's server. */
interface BunServer {
  readonly port: number;
  readonly requestIP: (request: Request) => { readonly address: string } | null;
  readonly stop: (closeActiveConnections?: boolean) => Promise<void>;
}

/** What is used of Bun. */
interface BunRuntime {
  readonly serve: (options: {
    readonly hostname: string;
    readonly port: number;
    readonly reusePort: boolean;
    readonly idleTimeout: number;
    readonly fetch: (request: Request, server: BunServer) => Promise<Response>;
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
    fetch(request, server) {
      return handler(withUrl(request), {
        // Asks the kernel each time.
        get peer() {
          return server.requestIP(request)?.address;
        },
      });
    },
  });
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
