import { AsyncLocalStorage } from "node:async_hooks";

const CURRENT = Symbol.for("rowgate.current_test");

/** Returns the title of the test that runs, its groups before it; empty outside of tests. */
export function currentTest(): string {
  return (globalThis as { [CURRENT]?: string })[CURRENT] ?? "";
}

const waiting = new AsyncLocalStorage<true>();

/** Reports whether a request is sent only to wait for something: how many there are is chance. */
export function isWaiting(): boolean {
  return waiting.getStore() === true;
}

/** Runs what sends such requests. */
export function whileWaiting<T>(wait: () => Promise<T>): Promise<T> {
  return waiting.run(true, wait);
}

/** Sets the title of the test that runs. */
export function enterTest(title: string): void {
  (globalThis as { [CURRENT]?: string })[CURRENT] = title;
}
