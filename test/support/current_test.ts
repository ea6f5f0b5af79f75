const CURRENT = Symbol.for("rowgate.current_test");

/** Returns the title of the test that runs, its groups before it; empty outside of tests. */
export function currentTest(): string {
  return (globalThis as { [CURRENT]?: string })[CURRENT] ?? "";
}

/** Sets the title of the test that runs. */
export function enterTest(title: string): void {
  (globalThis as { [CURRENT]?: string })[CURRENT] = title;
}
