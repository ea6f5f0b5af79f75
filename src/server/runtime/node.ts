import { createAdaptorServer } from "@hono/node-server";
import cluster from "node:cluster";
import { createServer, type OutgoingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import process from "node:process";
import { setFlagsFromString } from "node:v8";
import type { Adapter, Handler, ListenOptions, Server, WorkerSupport } from "./adapter.ts";
import { limitDiscarded, lingerOnClose } from "./lingering_close.ts";
import { listNodeFlags } from "./v8_flags.ts";

/** The handler answers a late body with 408 before the server closes the connection. */
const GRACE_MS = 1000;
/** Connections are closed when they fall idle, at this interval, once the server is to stop. */
const SWEEP_MS = 50;

/** Listens with Node's server behind the Web's Request and Response. */
async function listen(handler: Handler, options: ListenOptions): Promise<Server> {
  for (const flag of listNodeFlags(process.versions.v8)) setFlagsFromString(flag);
  const server = createAdaptorServer({
    fetch: async (request, { incoming, outgoing }) => {
      const { socket, url: target, httpVersion } = incoming;
      const connection = {
        peer: socket.remoteAddress,
        ...{ target, httpVersion },
        cut: () => socket.destroy(),
        free: () => isSent(outgoing),
      };
      const response = await handler(request, connection);
      if (!incoming.complete) limitDiscarded(incoming);
      return response;
    },
    // Of a request without `Host`, as HTTP/1.0 allows.
    hostname: "localhost",
    createServer,
    serverOptions: {
      headersTimeout: options.requestTimeoutMs,
      requestTimeout: options.requestTimeoutMs + GRACE_MS,
      connectionsCheckingInterval: 1000,
    },
  }) as ReturnType<typeof createServer>;
  lingerOnClose(server);
  // Node would answer a value of Expect that it does not know with a 417 of its own.
  server.on("checkExpectation", (incoming, outgoing) => server.emit("request", incoming, outgoing));
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

/**
 * Reports whether all that was written of a response has left this process. Before its headers are sent,
 * chunks may wait without being counted in `writableLength`.
 */
function isSent(
  { headersSent, writableLength }: Pick<OutgoingMessage, "headersSent" | "writableLength">,
): boolean {
  return headersSent && writableLength === 0;
}

/**
 * Starts the same script once more. All workers take connections from one socket, which the supervisor
 * holds and never reads: where it distributes connections itself, as Node does by default, one that is
 * on its way to a worker that was killed stays open and is never answered (20.20). Node 20 has no other
 * way to share a port.
 */
function openWorkers(): WorkerSupport {
  const [, exec = "", ...args] = process.argv;
  cluster.schedulingPolicy = cluster.SCHED_NONE;
  cluster.setupPrimary({ exec, args, stdio: ["pipe", "inherit", "inherit", "ipc"] });
  return { obstacle: undefined, fork: (variables) => cluster.fork(variables).process };
}

/** Lets a worker finish its requests when its supervisor is gone; by default the cluster ends it. */
function outliveSupervisor(): void {
  if (cluster.worker !== undefined) cluster.worker.exitedAfterDisconnect = true;
}

/** What differs on Node. */
export const NODE_ADAPTER: Adapter = { listen, openWorkers };
