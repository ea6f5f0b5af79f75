const CURRENT = Symbol.for("rowgate.current_test");

/** The test that runs, by the names of its groups and its own; empty outside of tests. */
export function currentTest(): string {
  return (globalThis as { [CURRENT]?: string })[CURRENT] ?? "";
}

/** Says which test runs. */
export function enterTest(title: string): void {
  (globalThis as { [CURRENT]?: string })[CURRENT] = title;
}
