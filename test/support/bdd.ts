/**
 * `@std/testing/bdd` as the test command has it: from JSR, or from the stand-in where JSR cannot be
 * reached. It adds four things: the title of the test that runs, which the watch and `--access` need;
 * `--filter` by the titles of tests, where Deno looks at those of the outermost groups alone; an
 * `afterEach` that is a part of its test, since Deno 2.9's `node:test` ignores a hook that fails; and an
 * end of each test and hook that hangs.
 */
import * as runner from "bdd";
import process from "node:process";
import { runStage, type Stage } from "./run_stage.ts";
import { runtimeOfGroup } from "./serving_runtime.ts";

type Body = () => unknown;

/** Registers a test or a group of tests, or one that is left out. */
interface Register {
  (name: string, body: Body): void;
  readonly skip: (name: string, body: Body) => void;
}

/** A test, or a group of tests: the hooks and tests that its body has registered. */
interface Entry {
  readonly kind: "group" | "test";
  readonly name: string;
  /** The names of its groups and its own. */
  readonly title: string;
  /** The file that has registered it. */
  readonly file: string;
  readonly ignore: boolean;
  readonly outer: Entry | undefined;
  readonly body: Body;
  readonly hooks: (() => void)[];
  readonly afterEach: Body[];
  readonly entries: Entry[];
}

/** Sessions outlive a test: they belong to its file. */
const UNSANITIZED = { sanitizeOps: false, sanitizeResources: false } as const;

const isWanted = readFilter(process.env.ROWGATE_TEST_FILTER);

/** The file: what stands outside of groups. */
const FILE: Entry = makeEntry("group", { name: "", body: () => {} });

let group = FILE;

/** Groups tests; its body runs at once. */
export const describe: Register = Object.assign(registerEntry("group"), {
  skip: registerEntry("group", true),
});
/** Registers a test. */
export const it: Register = Object.assign(registerEntry("test"), {
  skip: registerEntry("test", true),
});

/** Runs once before the tests of its group. */
export function beforeAll(body: Body): void {
  const hook = asHook(body);
  addHook(() => runner.beforeAll(hook));
}

/** Runs once after the tests of its group. */
export function afterAll(body: Body): void {
  const hook = asHook(body);
  addHook(() => runner.afterAll(hook));
}

/** Runs before each test of its group. */
export function beforeEach(body: Body): void {
  const hook = asHook(body);
  addHook(() => runner.beforeEach(hook));
}

/** Runs after each test of its group, and fails the test when it fails. */
export function afterEach(body: Body): void {
  group.afterEach.push(body);
}

export { afterAll as after, beforeAll as before };

function registerEntry(kind: Entry["kind"], ignore = false) {
  return (name: string, body: Body): void => {
    const entry = makeEntry(kind, { name, body, ignore, outer: group });
    if (kind === "group") collect(entry);
    // A group without a wanted test is left out whole, its hooks too.
    if (group !== FILE) group.entries.push(entry);
    else if (hasWanted(entry)) hand(entry);
  };
}

function makeEntry(
  kind: Entry["kind"],
  { name, body, ignore = false, outer }: Pick<Entry, "name" | "body"> & Partial<Entry>,
): Entry {
  const before = outer === undefined || outer.title === "" ? "" : `${outer.title} > `;
  const title = `${before}${name}`;
  const file = outer === undefined || outer === FILE ? findFile() : outer.file;
  return { kind, name, title, file, ignore, outer, body, hooks: [], afterEach: [], entries: [] };
}

/** Returns the test file that calls: a worker runs several. */
function findFile(): string {
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = Infinity;
  const { stack = "" } = new Error();
  Error.stackTraceLimit = limit;
  return /(?:file:\/\/)?([^\s()]*\.test\.tsx?)/.exec(stack)?.[1] ?? "";
}

function collect(entry: Entry): void {
  const outer = group;
  group = entry;
  try {
    entry.body();
  } finally {
    group = outer;
  }
}

function addHook(hook: () => void): void {
  if (group === FILE) hook();
  else group.hooks.push(hook);
}

function hasWanted({ kind, title, entries }: Entry): boolean {
  return kind === "test" ? isWanted(title) : entries.some(hasWanted);
}

/** Registers an entry, and what of it is wanted, with the runner. */
function hand(entry: Entry): void {
  const { kind, ignore, hooks, entries } = entry;
  const runtime = entry.outer === FILE ? runtimeOfGroup() : undefined;
  const name = runtime === undefined ? entry.name : `on ${runtime}: ${entry.name}`;
  if (kind === "test") {
    runner.it({ name, ignore, fn: () => runTest(entry), ...UNSANITIZED });
  } else {
    const fn = () => {
      for (const hook of hooks) hook();
      for (const inner of entries.filter(hasWanted)) hand(inner);
    };
    runner.describe({ name, ignore, fn, ...UNSANITIZED });
  }
}

async function runTest(entry: Entry): Promise<void> {
  try {
    await runStage({ ...stageOf(entry), isTest: true }, entry.body);
  } finally {
    await runAfterEach(entry.outer);
  }
}

async function runAfterEach(entry: Entry | undefined): Promise<void> {
  if (entry === undefined) return;
  for (const body of entry.afterEach) await runStage(stageOf(entry), body);
  await runAfterEach(entry.outer);
}

function asHook(body: Body): () => Promise<void> {
  const stage = group === FILE ? { ...stageOf(FILE), file: findFile() } : stageOf(group);
  return () => runStage(stage, body);
}

function stageOf({ file, title }: Entry): Stage {
  return { file, title, isTest: false };
}

/** As Deno reads its filter: a text that the title contains, or a pattern between slashes. */
function readFilter(filter: string | undefined): (title: string) => boolean {
  if (filter === undefined) return () => true;
  const pattern = /^\/(.+)\/$/.exec(filter)?.[1];
  if (pattern === undefined) return (title) => title.includes(filter);
  const expression = new RegExp(pattern);
  return (title) => expression.test(title);
}
