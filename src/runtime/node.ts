import { createAdaptorServer } from "@hono/node-server";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { outliveSupervisor } from "./node_workers.ts";
import type { Handler, ListenOptions, Server } from "./serve.ts";

/** The handler has its own word (408) on a body that is late; the server comes after it. */
const GRACE_MS = 1000;
/** Connections that are kept open for a next request are closed as they fall idle. */
const SWEEP_MS = 50;

/** Listens with Node's server behind the Web's Request and Response. */
export async function listen(handler: Handler, options: ListenOptions): Promise<Server> {
  const server = createAdaptorServer({
    fetch: (request, { incoming: { socket, url: target } }) =>
      handler(request, { peer: socket.remoteAddress, target, cut: () => socket.destroy() }),
    // Where HTTP/1.0 sends none.
    hostname: "localhost",
    createServer,
    serverOptions: {
      headersTimeout: options.requestTimeoutMs,
      requestTimeout: options.requestTimeoutMs + GRACE_MS,
      connectionsCheckingInterval: 1000,
    },
  }) as ReturnType<typeof createServer>;
  if (options.shared) outliveSupervisor();
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(options.port, options.host, () => {
      server.off("error", reject);
      resolve();
    });
  });

  function stop(): Promise<void> {
    return new Promise((resolve) => {
      const sweep = setInterval(() => server.closeIdleConnections(), SWEEP_MS);
      server.close(() => {
        clearInterval(sweep);
        resolve();
      });
    });
  }

  return {
    port: (server.address() as AddressInfo).port,
    stop,
    abort: () => server.closeAllConnections(),
  };
}
