import process from "node:process";
import { isRuntime, type Runtime } from "./runtime_server.ts";

const SERVING = Symbol.for("rowgate.serving_runtime");

/** What serves what these tests ask: what their group says, or `ROWGATE_TEST_RUNTIME`; else this process. */
export function servingRuntime(): Runtime | undefined {
  const text = runtimeOfGroup() ?? process.env.ROWGATE_TEST_RUNTIME;
  return isRuntime(text) ? text : undefined;
}

/** What the group of these tests says. */
export function runtimeOfGroup(): string | undefined {
  return (globalThis as { [SERVING]?: string })[SERVING];
}

/** Says what serves, before any file of the group is imported: variables belong to all groups. */
export function serveOn(runtime: Runtime): void {
  (globalThis as { [SERVING]?: string })[SERVING] = runtime;
}
