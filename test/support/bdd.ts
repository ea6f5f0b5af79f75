/**
 * `@std/testing/bdd` as the test command has it: from JSR, or from the stand-in where JSR cannot be
 * reached. It adds what the watch and `--access` need, the title of the test that runs, and makes
 * `afterEach` a part of its test: Deno 2.9's `node:test` ignores a hook that fails.
 */
import * as runner from "bdd";
import { enterTest } from "./watch/current_test.ts";

type Body = () => unknown;

/** Registers a test or a group of tests, or one that is left out. */
interface Register {
  (name: string, body: Body): void;
  readonly skip: (name: string, body: Body) => void;
}

/** A group of tests while it is registered: its hooks, and the groups around it. */
interface Group {
  readonly title: string;
  readonly outer: Group | undefined;
  readonly afterEach: Body[];
}

/** Sessions outlive a test: they belong to its file. */
const UNSANITIZED = { sanitizeOps: false, sanitizeResources: false } as const;

let group: Group = { title: "", outer: undefined, afterEach: [] };

/** Groups tests; its body runs at once. */
export const describe: Register = Object.assign(registerGroup(false), {
  skip: registerGroup(true),
});
/** Registers a test. */
export const it: Register = Object.assign(registerTest(false), { skip: registerTest(true) });

function registerGroup(ignore: boolean) {
  return (name: string, body: Body): void => {
    const fn = () => {
      const outer = group;
      group = { title: joinTitles(outer.title, name), outer, afterEach: [] };
      try {
        body();
      } finally {
        group = outer;
      }
    };
    runner.describe({ name, fn, ignore, ...UNSANITIZED });
  };
}

function registerTest(ignore: boolean) {
  return (name: string, body: Body): void => {
    const own = group;
    const fn = async () => {
      enterTest(joinTitles(own.title, name));
      try {
        await body();
      } finally {
        await runAfterEach(own);
      }
    };
    runner.it({ name, fn, ignore, ...UNSANITIZED });
  };
}

/** Runs once before the tests of its group. */
export function beforeAll(body: Body): void {
  runner.beforeAll(asHook(body));
}

/** Runs once after the tests of its group. */
export function afterAll(body: Body): void {
  runner.afterAll(asHook(body));
}

/** Runs before each test of its group. */
export function beforeEach(body: Body): void {
  runner.beforeEach(asHook(body));
}

/** Runs after each test of its group, and fails the test when it fails. */
export function afterEach(body: Body): void {
  group.afterEach.push(body);
}

export { afterAll as after, beforeAll as before };

function asHook(body: Body): () => Promise<void> {
  return async () => {
    await body();
  };
}

function joinTitles(outer: string, name: string): string {
  return outer === "" ? name : `${outer} > ${name}`;
}

async function runAfterEach({ afterEach, outer }: Group): Promise<void> {
  for (const body of afterEach) await body();
  if (outer !== undefined) await runAfterEach(outer);
}
