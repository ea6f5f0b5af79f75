import { relative } from "node:path";
import process from "node:process";
import { parseArgs } from "node:util";

type Flag =
  | { readonly type: "string"; readonly default?: string }
  | { readonly type: "boolean"; readonly default?: boolean };

/**
 * Reads the command line of a benchmark. On `--help` it prints how the script is called and ends the
 * process; on what it does not know it does so as well, with the reason, and exits with 2.
 */
export function readFlags<const T extends Readonly<Record<string, Flag>>>(flags: T) {
  const usage = printUsage(flags);
  if (process.argv.includes("--help")) {
    console.log(usage);
    process.exit(0);
  }
  try {
    return parseArgs({ options: flags }).values;
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : error}\n\n${usage}`);
    process.exit(2);
  }
}

/** The command with everything that can be set, each with what it is if it is not set. */
function printUsage(flags: Readonly<Record<string, Flag>>): string {
  const script = relative(process.cwd(), process.argv[1] ?? "");
  const all = Object.entries(flags).map(([name, flag]) =>
    flag.type === "boolean" ? `[--${name}]` : `[--${name}=${flag.default ?? "…"}]`
  );
  return [`deno run -A ${script}`, ...all].join("\n  ");
}
