import type { Command } from "commander";
import type { Run } from "./run.ts";
import { runServer } from "./run_server.ts";
import { describeSettings } from "./settings_help.ts";

const EXAMPLE = `
Examples:
  rowgate serve                                              serves the demonstration
  DATABASE_URL=postgres://app:…@db/shop PORT=9000 rowgate serve
`;
const EXIT_CODES = `
Exit codes: 0 after SIGTERM or SIGINT, 1 when something failed or on a second signal, 2 when the
command line or the configuration is wrong.`;

/** Adds `rowgate serve`. @see R30 */
export function addServe(root: Command, run: Run): void {
  root.command("serve")
    .description("serve the tables of the configured database over HTTP")
    .addHelpText("after", `${EXAMPLE}\n${describeSettings()}${EXIT_CODES}`)
    .action(() => run(runServer));
}
