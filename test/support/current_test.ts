import { AsyncLocalStorage } from "node:async_hooks";

const CURRENT = Symbol.for("rowgate.current_test");

interface Current {
  readonly title: string;
  readonly signal: AbortSignal;
  /** False in a hook: what that starts is there for its tests. */
  readonly isTest: boolean;
}

/** Nothing ends what runs outside of tests and hooks. */
const NONE: Current = {
  title: "",
  signal: new AbortController().signal,
  isTest: false,
};

function readCurrent(): Current {
  return (globalThis as { [CURRENT]?: Current })[CURRENT] ?? NONE;
}

/** Returns the title of the test that runs, its groups before it; empty outside of tests. */
export function currentTest(): string {
  return readCurrent().title;
}

/**
 * Returns the signal of the test or hook that runs. It is aborted as that ends, however it ends: what
 * goes on for as long as the test does, such as a client that asks again and again, stops with it.
 */
export function currentSignal(): AbortSignal {
  return readCurrent().signal;
}

/** Calls what ends something that the current test has started, as that test ends; not in a hook. */
export function whenTestEnds(end: () => void): void {
  const { signal, isTest } = readCurrent();
  if (isTest) signal.addEventListener("abort", end, { once: true });
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

/** Sets the test that runs; a hook leaves the title as it is. */
export function enterTest(title: string | undefined, signal: AbortSignal): void {
  const current = { title: title ?? currentTest(), signal, isTest: title !== undefined };
  (globalThis as { [CURRENT]?: Current })[CURRENT] = current;
}
