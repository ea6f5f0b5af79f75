import type { App } from "../../app.ts";
import type { Config } from "../../server/config/config.ts";
import { serve, type Served } from "../../server/runtime/serve.ts";
import { FAILED, type Stop, stop } from "../stop.ts";

/** Where to listen, and from when on requests are answered. */
export interface ListenOptions {
  readonly config: Config;
  /** Settles once requests can be answered. */
  readonly ready: Promise<void>;
  /** Other processes listen on the same port. */
  readonly shared: boolean;
}

/**
 * Listens where the configuration says. This comes first in a start, so that a port that is taken is
 * reported before the database is filled. Requests wait until the service is ready, except those for
 * `/livez`, which asks only whether the process lives.
 * @throws {Stop} that names the variable to change
 * @see R8
 */
export async function startListening(
  app: App,
  { config, ready, shared }: ListenOptions,
): Promise<Served> {
  const { host, port, requestTimeoutMs } = config;
  let starting = true;
  void ready.then(() => starting = false);
  const answer: App = (request, connection) =>
    starting && !isForLivez(request)
      ? ready.then(() => app(request, connection))
      : app(request, connection);
  try {
    return await serve(answer, { host, port, requestTimeoutMs, shared });
  } catch (error) {
    throw explainListen(error, config);
  }
}

/** Explains to the operator why the address cannot be listened on. */
export function explainListen(
  error: unknown,
  { host, port }: Pick<Config, "host" | "port">,
): Stop {
  return stop(FAILED, `rowgate: cannot listen on ${host}:${port}, ${explain(error)}`);
}

/** A request whose URL cannot be read waits with the others, and is rejected then. */
function isForLivez(request: Request): boolean {
  try {
    return new URL(request.url).pathname === "/livez";
  } catch {
    return false;
  }
}

function explain(error: unknown): string {
  const { code, name } = error as { readonly code?: string; readonly name?: string };
  if (name === "NotCapable") return "Deno denies it; run it with --allow-net";
  switch (code) {
    case "EADDRINUSE":
      return "the address is in use; choose another port with PORT, or any free one with PORT=0";
    case "EACCES":
      return "the process may not use this port; choose one above 1023 with PORT";
  }
  return `it is not an address of this machine (${code ?? "unknown"}); change HOST`;
}
