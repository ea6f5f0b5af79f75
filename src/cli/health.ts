import type { Command } from "commander";
import { askStatus } from "../server/runtime/ask_status.ts";
import type { Host } from "../server/runtime/host.ts";
import { readSettings } from "./read_settings.ts";
import { FAILED, stop } from "./stop.ts";
import type { RunWork } from "./subcommand.ts";

const TIMEOUT_MS = 5000;
const EXAMPLES = `
For the health checks of containers, which have no curl. It requests /readyz at HOST and PORT; for
0.0.0.0 and ::, at localhost. Exit codes: 0 when the server is ready, 1 when it is not.

Example:
  rowgate health && echo ready`;

/** Adds `rowgate health`. @see docs/decisions/0001-dependencies-and-shipping.md */
export function addHealth(root: Command, run: RunWork): void {
  root.command("health")
    .description("Check that the server on this machine is ready")
    .addHelpText("after", EXAMPLES)
    .action(() => run(checkHealth));
}

async function checkHealth(host: Host): Promise<number> {
  const { config } = await readSettings(host);
  const url = `http://${toUrlHost(config.host)}:${config.port}/readyz`;
  const status = await askStatus(url, TIMEOUT_MS);
  if (status === 200) return 0;
  throw stop(
    FAILED,
    `rowgate: ${url} ${status === undefined ? "does not answer" : `answers ${status}`}`,
  );
}

/** A server that listens on all addresses is asked on the loopback one. */
function toUrlHost(host: string): string {
  if (host === "0.0.0.0") return "127.0.0.1";
  if (host === "::") return "[::1]";
  return host.includes(":") ? `[${host}]` : host;
}
