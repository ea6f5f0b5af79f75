import { ApiError } from "../../basics/errors/api_error.ts";
import type { Observe } from "../../server/telemetry/observe.ts";
import type { ConsoleFile } from "./build_console.ts";

/** The paths at which the console's files are served; `/` is the page itself. */
export const CONSOLE_PATHS = [
  "/",
  "/console/app.js",
  "/console/app.css",
  "/console/icon.svg",
] as const;

/** One of {@link CONSOLE_PATHS}. */
export type ConsolePath = typeof CONSOLE_PATHS[number];

let files: Promise<ReadonlyMap<string, ConsoleFile>> | undefined;

/**
 * Returns a file of the console. When the service runs from source, the first call builds them all.
 * @throws {ApiError} 503 when they cannot be built, because the process may not read the sources or
 * run esbuild; the next call tries again
 */
export async function readConsoleFile(path: ConsolePath, observe: Observe): Promise<ConsoleFile> {
  try {
    return (await (files ??= loadFiles(observe))).get(path)!;
  } catch (cause) {
    files = undefined;
    const [reason] = String(cause).split("\n");
    const needs = "it must read src/console and run esbuild";
    observe({ kind: "warning", message: `the console could not be built, ${needs}: ${reason}` });
    const message = "The console is not built; the bundle, the package and the binaries have it";
    throw new ApiError(503, message, { cause });
  }
}

async function loadFiles(observe: Observe): Promise<ReadonlyMap<string, ConsoleFile>> {
  const startedMs = performance.now();
  const { buildConsole, FROM_SOURCE } = await import("./build_console.ts");
  const built = await buildConsole();
  const durationMs = Math.round(performance.now() - startedMs);
  if (FROM_SOURCE) observe({ kind: "console_built", durationMs });
  return built;
}
