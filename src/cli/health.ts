import type { Command } from "commander";
import type { Host } from "../runtime/host.ts";
import { askStatus } from "../runtime/ask_status.ts";
import { readSettings } from "./read_settings.ts";
import type { Run } from "./subcommand.ts";
import { FAILED, stop } from "./stop.ts";

const TIMEOUT_MS = 5000;
const EXAMPLE = `
For health checks of containers, where there is no curl. It asks /readyz on the address that HOST
and PORT name; 0.0.0.0 and :: are asked as localhost.

Example:
  rowgate health && echo well`;

/** Adds `rowgate health`. @see docs/decisions/0192-what-is-shipped.md */
export function addHealth(root: Command, run: Run): void {
  root.command("health")
    .description("ask the server that runs here whether it is ready; exit code 1 when not")
    .addHelpText("after", EXAMPLE)
    .action(() => run(askForHealth));
}

async function askForHealth(host: Host): Promise<number> {
  const { config } = await readSettings(host);
  const url = `http://${nameHost(config.host)}:${config.port}/readyz`;
  const status = await askStatus(url, TIMEOUT_MS);
  if (status === 200) return 0;
  throw stop(FAILED, `rowgate: ${url} ${status === undefined ? "does not answer" : status}`);
}

/** Where a server that listens everywhere is found. */
function nameHost(host: string): string {
  if (host === "0.0.0.0") return "127.0.0.1";
  if (host === "::") return "[::1]";
  return host.includes(":") ? `[${host}]` : host;
}
