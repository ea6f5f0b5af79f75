/**
 * Stands in for `@std/testing/bdd` where JSR cannot be reached: what test/support/bdd.ts uses of it,
 * with the same meaning, over `node:test`.
 */
import * as runner from "node:test";

type Hook = () => Promise<void>;

/** A test, or a group of tests. */
interface Definition<Body> {
  readonly name: string;
  readonly fn: Body;
  /** True leaves it out. */
  readonly ignore?: boolean;
}

/** Groups tests; its body runs at once. */
export function describe({ name, fn, ignore = false }: Definition<() => void>): void {
  // The runner awaits the promise and reports failures itself.
  void runner.describe(name, { skip: ignore }, fn);
}

/** Registers a test. */
export function it({ name, fn, ignore = false }: Definition<() => Promise<void>>): void {
  void runner.it(name, { skip: ignore }, fn);
}

/** Runs once before the tests of its group. What it throws is shown: `node:test` reports what `after` throws. */
export function beforeAll(hook: Hook): void {
  runner.before(async () => {
    try {
      await hook();
    } catch (error) {
      console.error(error);
      throw error;
    }
  });
}

/** Runs once after the tests of its group. */
export function afterAll(hook: Hook): void {
  runner.after(hook);
}

/** Runs before each test of its group. */
export function beforeEach(hook: Hook): void {
  runner.beforeEach(hook);
}
