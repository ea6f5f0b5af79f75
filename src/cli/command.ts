import { Command, CommanderError } from "commander";
import { VERSION } from "../server/config/config.ts";
import type { Host } from "../server/runtime/host.ts";
import { addAudit } from "./audit.ts";
import { addChanges } from "./changes.ts";
import { addExport } from "./export.ts";
import { addDoctor } from "./doctor_command.ts";
import { addHandout } from "./handout.ts";
import { addHealth } from "./health.ts";
import { addOpenapi } from "./openapi.ts";
import { addServe } from "./serve/serve.ts";
import { addSetup } from "./setup.ts";
import { FAILED, isStop, WRONG_USAGE } from "./stop.ts";
import { addTypes } from "./table_types.ts";
import { addTables } from "./tables.ts";
import { addToken } from "./token.ts";
import { addWebhook } from "./webhook.ts";

const SUBCOMMANDS = [
  addServe,
  addHealth,
  addToken,
  addTables,
  addExport,
  addAudit,
  addChanges,
  addWebhook,
  addSetup,
  addDoctor,
  addOpenapi,
  addTypes,
  addHandout,
];

const EXAMPLES = `
Examples:
  rowgate serve                             Serve a demonstration on an embedded Postgres
  DATABASE_URL=postgres://… rowgate serve   Serve the tables of your own database
  rowgate token create --tenant acme        Make a token for a client of the tenant acme

All settings are environment variables; "rowgate serve --help" lists them.`;

/**
 * Runs the command with the arguments of the process and gives its exit code: 0; 1 when it failed; 2
 * when the command line or the configuration is wrong.
 * @see R30
 */
export async function runCommand(host: Host): Promise<number> {
  let code = 0;
  const root = new Command("rowgate")
    .description("A record API over a multi-tenant Postgres: each token reaches one tenant's rows.")
    .version(VERSION, "-V, --version", "Print the version")
    .helpOption("-h, --help", "Print this help")
    .helpCommand(false)
    .showSuggestionAfterError()
    .exitOverride()
    .configureOutput({
      writeOut: host.stdout.write,
      writeErr: host.stderr.write,
      outputError: (text, write) => write(text.replace(/^error: /, "rowgate: ")),
    })
    .showHelpAfterError('Add "--help" for the options and commands.')
    .addHelpText("after", EXAMPLES);
  for (const add of SUBCOMMANDS) {
    add(root, async (work) => {
      code = await work(host);
    });
  }
  try {
    await root.parseAsync([...host.args], { from: "user" });
    return code;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : WRONG_USAGE;
    if (isDenied(error)) {
      host.stderr.write(`rowgate: Deno denies a permission. ${error.message}\n`);
      return FAILED;
    }
    if (!isStop(error)) throw error;
    for (const line of error.lines) host.stderr.write(`${line}\n`);
    return error.code;
  }
}

/** Deno throws this when a permission is missing. */
function isDenied(error: unknown): error is Error {
  return error instanceof Error && error.name === "NotCapable";
}
