import { Command, CommanderError } from "commander";
import type { Host } from "../runtime/host.ts";
import { addAudit } from "./audit.ts";
import { addDoctor } from "./doctor.ts";
import { addHealth } from "./health.ts";
import { addOpenapi } from "./openapi.ts";
import { addTypes } from "./table_types.ts";
import { addServe } from "./serve/serve.ts";
import { addSetup } from "./setup.ts";
import { addTables } from "./tables.ts";
import { addToken } from "./token.ts";
import { FAILED, isStop, WRONG_USAGE } from "./stop.ts";
import { VERSION } from "./version.ts";

const EXAMPLE = `
Examples:
  rowgate serve                             a demonstration, on an embedded Postgres
  DATABASE_URL=postgres://… rowgate serve   the tables of your own
  rowgate token create --tenant acme        a token for a client of the tenant acme

Every setting is an environment variable; "rowgate serve --help" lists them.`;

/**
 * Runs the command of the process's arguments and gives its exit code: 0; 1 refused or failed; 2
 * wrong usage, of the command line or of the configuration.
 * @see R30
 */
export async function runCommand(host: Host): Promise<number> {
  let code = 0;
  const root = new Command("rowgate")
    .description("HTTP access for integration clients to the rows of one tenant in your Postgres.")
    .version(VERSION, "-V, --version", "print the version")
    .helpOption("-h, --help", "print this help")
    .helpCommand(false)
    .showSuggestionAfterError()
    .exitOverride()
    .configureOutput({
      writeOut: host.stdout.write,
      writeErr: host.stderr.write,
      outputError: (text, write) => write(text.replace(/^error: /, "rowgate: ")),
    })
    .showHelpAfterError("--help shows what there is, also behind a command")
    .addHelpText("after", EXAMPLE);
  const subcommands = [
    addServe,
    addHealth,
    addToken,
    addTables,
    addAudit,
    addSetup,
    addDoctor,
    addOpenapi,
    addTypes,
  ];
  for (const add of subcommands) {
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
      host.stderr.write(`rowgate: Deno denies what it needs. ${error.message}\n`);
      return FAILED;
    }
    if (!isStop(error)) throw error;
    for (const line of error.lines) host.stderr.write(`${line}\n`);
    return error.code;
  }
}

/** Deno's refusal of what it was given no permission for. */
function isDenied(error: unknown): error is Error {
  return error instanceof Error && error.name === "NotCapable";
}
