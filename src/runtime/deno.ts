import type { Handler, ListenOptions, Server } from "./serve.ts";

/** Listens with Deno's own server. */
export function listen(handler: Handler, { host, port, shared }: ListenOptions): Server {
  const aborter = new AbortController();
  const server = Deno.serve({
    hostname: host,
    port,
    // Unstable on Deno 2.9: even naming it asks for --unstable-net.
    ...(shared ? { reusePort: true } : {}),
    signal: aborter.signal,
    onListen() {},
  }, (request, { remoteAddr: { hostname: peer } }) => handler(request, { peer }));
  // Rejects when the signal cuts it.
  server.finished.catch(() => {});
  return {
    port: server.addr.port,
    stop: () => server.shutdown(),
    abort: () => aborter.abort(),
  };
}
