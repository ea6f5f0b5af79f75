/**
 * Stands in for `@std/testing/bdd` from JSR, over `node:test`: same names, same meaning, for what the
 * tests here use. `deno task test:jsr` runs them with the original. @see DESIGN
 */
import * as runner from "node:test";

type Body = () => unknown;

/** How a test or a group of tests is registered, and its variants. */
export interface Register {
  (name: string, body?: Body): void;
  readonly only: (name: string, body?: Body) => void;
  readonly ignore: (name: string, body?: Body) => void;
  readonly skip: (name: string, body?: Body) => void;
}

type Run = (name: string, options: Record<string, unknown>, body: Body) => unknown;

function register(run: Run): Register {
  const variant = (options: Record<string, unknown>) => (name: string, body: Body = () => {}) => {
    // The runner's promise is not ours to wait for; failures are reported by the runner itself.
    void run(name, options, async () => await body());
  };
  const skip = variant({ skip: true });
  return Object.assign(variant({}), { only: variant({ only: true }), ignore: skip, skip });
}

/** Groups tests; its body runs at once. */
export const describe: Register = register((name, options, body) =>
  runner.describe(name, options, () => {
    body();
  })
);
/** Registers a test. */
export const it: Register = register((name, options, body) =>
  runner.it(name, options, async () => {
    await body();
  })
);
/** Registers a test. */
export const test: Register = it;

/** Runs once before the tests of its group. */
export function beforeAll(body: Body): void {
  runner.before(async () => {
    await body();
  });
}

/** Runs once after the tests of its group. */
export function afterAll(body: Body): void {
  runner.after(async () => {
    await body();
  });
}

/** Runs before each test of its group. */
export function beforeEach(body: Body): void {
  runner.beforeEach(async () => {
    await body();
  });
}

/** Runs after each test of its group. */
export function afterEach(body: Body): void {
  runner.afterEach(async () => {
    await body();
  });
}

export { afterAll as after, beforeAll as before };
