import type { App } from "../../app.ts";
import type { Config } from "../../config/config.ts";
import { serve, type Served } from "../../runtime/serve.ts";
import { FAILED, type Stop, stop } from "../stop.ts";

/** What is listened with. */
export interface ListenOptions {
  readonly config: Config;
  /** Settles once requests can be answered. */
  readonly prepared: Promise<void>;
  /** Other processes listen on the same port. */
  readonly shared: boolean;
}

/**
 * Listens where the configuration says, before anything else is done: a port that is taken must not
 * be found out after the work of a first start. Until that is through requests wait, but for
 * `/livez`, whose question is whether the process lives.
 * @throws {Stop} saying which variable to change
 * @see R8
 */
export async function listen(
  app: App,
  { config, prepared, shared }: ListenOptions,
): Promise<Served> {
  const { host, port, requestTimeoutMs } = config;
  let starting = true;
  void prepared.then(() => starting = false);
  const answer: App = (request, connection) =>
    starting && !asksForLife(request)
      ? prepared.then(() => app(request, connection))
      : app(request, connection);
  try {
    return await serve(answer, { host, port, requestTimeoutMs, shared });
  } catch (error) {
    throw explainListen(error, config);
  }
}

/** Says in a person's words why an address can not be listened on. */
export function explainListen(
  error: unknown,
  { host, port }: Pick<Config, "host" | "port">,
): Stop {
  return stop(FAILED, `rowgate: can not listen on ${host}:${port}, ${explain(error)}`);
}

/** A request whose URL can not be read waits with the rest, to be refused. */
function asksForLife(request: Request): boolean {
  try {
    return new URL(request.url).pathname === "/livez";
  } catch {
    return false;
  }
}

function explain(error: unknown): string {
  const { code, name } = error as { readonly code?: string; readonly name?: string };
  if (name === "NotCapable") return "Deno denies it, it needs --allow-net";
  switch (code) {
    case "EADDRINUSE":
      return "the address is in use; choose another port with PORT, or any free one with PORT=0";
    case "EACCES":
      return "ports below 1024 need rights; choose another with PORT";
  }
  return `it is no address of this machine (${code ?? "unknown"}); HOST names one`;
}
