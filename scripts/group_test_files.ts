import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { GroupNeeds } from "../test/support/begin_group.ts";
import type { Runtime } from "../test/support/runtime_server.ts";
import { isLong } from "./list_test_files.ts";
import { listPrograms } from "./make_programs.ts";

/**
 * Test files that one worker runs, one after the other: much of what a short file costs is to load what
 * it imports, which happens once for each file that Deno is given.
 */
export interface TestGroup extends GroupNeeds {
  readonly files: readonly string[];
}

/** How many files a group has at most, by what they begin with. */
const GROUP_FILES: readonly (readonly [start: string, most: number])[] = [
  // They share a browser.
  ["test/console/", 4],
  // They wait for processes.
  ["test/ship/", 1],
  ["test/runtime/", 3],
  // They wait for timeouts.
  ["test/integration/faults/", 3],
  ["test/integration/load/", 3],
  // They share a service.
  ["test/conformance/", 24],
  ["test/unit/", 12],
  ["test/", 20],
];
/** So many groups at least, where there are as many files and none share a service: they run side by side. */
const LEAST_GROUPS = 4;
const BEGIN = new URL("../test/support/begin_group.ts", import.meta.url).href;

/**
 * Deals files among groups, in the order in which these should start: those that need no program come
 * first, since the others are made meanwhile, and last, since they are short; files that wait are alone
 * and spread among the groups that work. The conformance tests are run once in this process and once on
 * each of the runtimes; those that share a service are together.
 */
export async function groupTestFiles(
  files: readonly string[],
  runtimes: readonly Runtime[] = [],
): Promise<readonly TestGroup[]> {
  const conformance = await groupByService(files.filter(isConformance));
  const others = files.filter((file) => !isConformance(file));
  const { ready = [], waiting = [] } = Object.groupBy(
    dealAlike(others.filter((file) => !isLong(file))),
    ({ programs }) => programs.length === 0 ? "ready" : "waiting",
  );
  const dealConformance = (runtime?: Runtime) => conformance.flatMap((same) => deal(same, runtime));
  const served = runtimes.flatMap(dealConformance);
  const half = Math.ceil(ready.length / 2);
  return [
    ...ready.slice(0, half),
    ...spread(dealAlike(others.filter(isLong)), [...dealConformance(), ...waiting, ...served]),
    ...ready.slice(half),
  ];
}

/** Writes a file for each group, and lists them: what `deno test` is given. */
export async function writeGroups(
  groups: readonly TestGroup[],
  folder: string,
): Promise<string[]> {
  return await Promise.all(groups.map(async ({ files, programs, runtime }, index) => {
    const [first = "", ...others] = files;
    if (others.length === 0 && programs.length === 0 && runtime === undefined) return first;
    const path = join(folder, `${runtime ?? "group"}_${index + 1}.test.ts`);
    const lines = [
      `import { beginGroup } from "${BEGIN}";`,
      `await beginGroup(${JSON.stringify({ programs, runtime })});`,
      ...files.map((file) => `await import("${pathToFileURL(file)}");`),
    ];
    await writeFile(path, `${lines.join("\n")}\n`);
    return path;
  }));
}

/** Deals files that need the same programs and have groups of the same size. */
function dealAlike(files: readonly string[]): TestGroup[] {
  const alike = Map.groupBy(
    files,
    (file) => [mostOf(file), ...listPrograms([file], undefined)].join(),
  );
  return [...alike.values()].flatMap((same) => deal(same));
}

/** Deals the first files, which take longest, to different groups. */
function deal(files: readonly string[], runtime?: Runtime): TestGroup[] {
  const most = mostOf(files[0] ?? "");
  const least = files.every(isConformance) ? 1 : LEAST_GROUPS;
  const count = Math.max(Math.ceil(files.length / most), Math.min(files.length, least));
  return Array.from(
    { length: count },
    (_, index) => makeGroup(files.filter((_, at) => at % count === index), runtime),
  );
}

function mostOf(file: string): number {
  return GROUP_FILES.find(([start]) => file.startsWith(start))?.[1] ?? 1;
}

function makeGroup(files: readonly string[], runtime?: Runtime): TestGroup {
  return { files, programs: listPrograms(files, runtime), runtime };
}

/** Merges lists so that each is spread evenly over the whole. */
function spread<Item>(...lists: readonly (readonly Item[])[]): Item[] {
  return lists
    .flatMap((list) => list.map((item, at) => ({ item, place: (at + 0.5) / list.length })))
    .sort((a, b) => a.place - b.place)
    .map(({ item }) => item);
}

/** Groups conformance tests by the service that they share: see test/support/shared_service.ts. */
async function groupByService(files: readonly string[]): Promise<string[][]> {
  const texts = await Promise.all(files.map((file) => readFile(file, "utf8")));
  const groups = Map.groupBy(files, (_, at) => {
    return texts[at]!.includes("describeSharedService(");
  });
  return [...groups.values()];
}

function isConformance(file: string): boolean {
  return file.startsWith("test/conformance/");
}
