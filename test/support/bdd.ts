/**
 * Stands in for `@std/testing/bdd` from JSR, over `node:test`: same names, same meaning, for what the
 * tests here use. `deno task test:jsr` runs them with the original. @see DESIGN
 */
import * as runner from "node:test";
import { enterTest } from "./watch/current_test.ts";

type Body = () => unknown;

/** How a test or a group of tests is registered, and its variants. */
export interface Register {
  (name: string, body?: Body): void;
  readonly only: (name: string, body?: Body) => void;
  readonly ignore: (name: string, body?: Body) => void;
  readonly skip: (name: string, body?: Body) => void;
}

type Run = (name: string, options: Record<string, unknown>, body: Body) => unknown;

/** A group of tests while it is registered: its hooks, and the groups around it. */
interface Group {
  readonly title: string;
  readonly outer: Group | undefined;
  readonly afterEach: Body[];
}

let group: Group = { title: "", outer: undefined, afterEach: [] };

function register(run: Run): Register {
  const variant = (options: Record<string, unknown>) => (name: string, body: Body = () => {}) => {
    // The runner's promise is not ours to wait for; failures are reported by the runner itself.
    void run(name, options, body);
  };
  const skip = variant({ skip: true });
  return Object.assign(variant({}), { only: variant({ only: true }), ignore: skip, skip });
}

/** Groups tests; its body runs at once. */
export const describe: Register = register((name, options, body) =>
  runner.describe(name, options, () => {
    const outer = group;
    group = { title: joinTitles(outer.title, name), outer, afterEach: [] };
    try {
      body();
    } finally {
      group = outer;
    }
  })
);
/** Registers a test. */
export const it: Register = register((name, options, body) => {
  const own = group;
  return runner.it(name, options, async () => {
    enterTest(joinTitles(own.title, name));
    try {
      await body();
    } finally {
      await runAfterEach(own);
    }
  });
});
/** Registers a test. */
export const test: Register = it;

function joinTitles(outer: string, name: string): string {
  return outer === "" ? name : `${outer} > ${name}`;
}

/** As a part of the test: the runner of Deno 2.9 takes no notice of a hook that fails. */
async function runAfterEach({ afterEach, outer }: Group): Promise<void> {
  for (const body of afterEach) await body();
  if (outer !== undefined) await runAfterEach(outer);
}

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

/** Runs after each test of its group, and fails the test when it fails. */
export function afterEach(body: Body): void {
  group.afterEach.push(body);
}

export { afterAll as after, beforeAll as before };
