import { ApiError } from "../errors/api_error.ts";
import type { Observe } from "../telemetry/observe.ts";
import type { Page, PagePath } from "./page.ts";

let pages: Promise<ReadonlyMap<PagePath, Page>> | undefined;

/**
 * Gives a file of the console. From source, the first call builds them all.
 * @throws {ApiError} 503 when they cannot be built, because the process may not read the sources or
 * run esbuild
 */
export async function readPage(path: PagePath, observe: Observe): Promise<Page> {
  try {
    return (await (pages ??= loadPages(observe))).get(path)!;
  } catch (cause) {
    pages = undefined;
    const message = "The console is not built; the bundle, the package and the binaries have it";
    throw new ApiError(503, message, { cause });
  }
}

async function loadPages(observe: Observe): Promise<ReadonlyMap<PagePath, Page>> {
  const startedMs = performance.now();
  const { buildPages, FROM_SOURCE } = await import("./build_pages.ts");
  const built = await buildPages();
  const durationMs = Math.round(performance.now() - startedMs);
  if (FROM_SOURCE) observe({ kind: "console_built", durationMs });
  return built;
}
