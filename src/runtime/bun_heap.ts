import process from "node:process";
import { repeatCommand } from "./bun_command.ts";
import { IS_BUN } from "./name.ts";

/** What Bun's process has that Deno's types do not know. */
interface BunProcess {
  readonly execve: (file: string, args: string[], environment: Record<string, string>) => never;
}

/** JavaScriptCore reads it as it starts, and never again. */
const VARIABLE = "BUN_JSC_minEdenToOldGenerationRatio";
/** JavaScriptCore's own is 0.333. */
const RATIO = "0.6";

/**
 * Has Bun look through all of its heap as soon as less than 60 % of it is room for what is young, not
 * a third: a quarter less memory. For that the process begins anew, as itself and with the same id;
 * once, for then the variable is there. Whoever has set it is obeyed; on other runtimes nothing is done.
 * @see docs/decisions/0038-bun-heap.md
 */
export function limitBunHeap(): void {
  // A channel to the parent process would be lost.
  if (!IS_BUN || VARIABLE in process.env || process.connected) return;
  const environment = { ...process.env as Record<string, string>, [VARIABLE]: RATIO };
  try {
    const { execPath, argv0 } = process;
    (process as unknown as BunProcess).execve(execPath, [argv0, ...repeatCommand()], environment);
  } catch {
    // Not to be had on this system, or the file is gone: it serves all the same.
  }
}
