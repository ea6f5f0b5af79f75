import { relative } from "node:path";
import process from "node:process";
import { parseArgs } from "node:util";

type Flag =
  | { readonly type: "string"; readonly default?: string }
  | { readonly type: "boolean"; readonly default?: boolean };

/** Reads the command line of a benchmark; see {@link orShowUsage}. */
export function readFlags<const T extends Readonly<Record<string, Flag>>>(flags: T) {
  return orShowUsage(printUsage(flags), () => parseArgs({ options: flags }).values);
}

/**
 * Gives what is read from the command line. On `--help` it prints how the script is called and ends the
 * process; where reading throws it does so as well, with the reason, and exits with 2.
 */
export function orShowUsage<T>(usage: string, read: () => T): T {
  if (process.argv.includes("--help")) {
    console.log(usage);
    process.exit(0);
  }
  try {
    return read();
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
