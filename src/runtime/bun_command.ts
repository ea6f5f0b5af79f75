import process from "node:process";

/** Where the source lies in a binary that Bun has compiled. */
const EMBEDDED = /^(\/\$bunfs\/|[A-Z]:[\\/]~BUN[\\/])/i;

/** Gives what stands behind `process.execPath` to run the same script, or the same binary, again. */
export function repeatCommand(): readonly string[] {
  const [, script = "", ...args] = process.argv;
  return [...(EMBEDDED.test(script) ? [] : [...process.execArgv, script]), ...args];
}
