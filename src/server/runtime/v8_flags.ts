/**
 * Optimises a function after 500 calls instead of 3,000. A service with many shapes of requests reaches
 * its full speed after a third of the requests.
 * @see docs/decisions/0035-runtimes.md
 */
const OPTIMISE_SOONER = "--invocation-count-for-turbofan=500";

/**
 * The flags of V8 that Deno is started with; the `start` task, the workers and the binary have them.
 * The young heap may be large, so that what is in use is copied less often. The old heap may grow by
 * half before V8 walks it, not to four times its size, and that walk begins when part of the growth is
 * used: by itself V8 begins as soon as less is left than the young heap has, and counts the bytes read
 * from Postgres, so several times a second under long pages. Without the memory reducer the heap does
 * not shrink at rest, only to grow again.
 *
 * They must stand on the command line: `node:v8` cannot set the size of the young heap at run time.
 * @see docs/decisions/0035-runtimes.md
 */
export const V8_FLAGS = [
  "--v8-flags=--max-semi-space-size=32",
  "--heap-growing-percent=50",
  "--incremental-marking-soft-trigger=60",
  "--incremental-marking-hard-trigger=90",
  "--no-memory-reducer",
  OPTIMISE_SOONER,
].join(",");

/**
 * Keeps the bytecode of functions that have not run for a while: V8 throws it away, and compiles the
 * function again for the next request.
 * @see docs/decisions/0035-runtimes.md
 */
const KEEP_BYTECODE = "--no-flush-bytecode";

/**
 * The V8 of Node 20 does not count calls, but the bytes of code that a function runs: a third of its
 * usual number.
 */
const OPTIMISE_SOONER_ON_NODE_20 = "--interrupt-budget=22528";

/** Returns the flags that the service sets itself on Node, for a version of V8 such as `12.4.254.21`. */
export function listNodeFlags(version: string): readonly string[] {
  const countsCalls = Number.parseInt(version) >= 12;
  return [KEEP_BYTECODE, countsCalls ? OPTIMISE_SOONER : OPTIMISE_SOONER_ON_NODE_20];
}
