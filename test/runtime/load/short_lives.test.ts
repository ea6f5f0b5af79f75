import { assert } from "@std/assert";
import { beforeAll, describe, it } from "@std/testing/bdd";
import type { TestService } from "../../support/service.ts";
import { hearV8 } from "./hear_v8.ts";

const PATH = "/integration/tables/deals";
const PAGE_BYTES = 60_000;
const REQUESTS = 800;
const AT_ONCE = 8;

/** Without its compilers V8 does the same each time; it prints a line for each collection. */
const V8_FLAGS = "--trace-gc,--no-opt,--no-maglev,--no-sparkplug";

/** Megabytes of the heap before and after a collection of what is young. */
const SCAVENGE = /Scavenge ([\d.]+) \([\d.]+\) -> ([\d.]+) /;
const LOOK_THROUGH_THE_OLD = / Mark-Compact /;

describe("a page", () => {
  let lines: readonly string[];

  beforeAll(async () => {
    lines = await hearV8(V8_FLAGS, askForLargePages);
  });

  it("is collected by V8 while it is young [RE12]", () => {
    const { made, kept } = weigh(lines);
    assert(made > REQUESTS * PAGE_BYTES / 1e6, `${made} MB were made`);
    assert(kept < made / 8, `${kept} of ${made} MB outlived what is young`);
  });

  it("does not have V8 look through the old heap for it", () => {
    const looks = lines.filter((line) => LOOK_THROUGH_THE_OLD.test(line)).length;
    const young = lines.filter((line) => SCAVENGE.test(line)).length;
    assert(looks < young / 10, `${looks} looks beside ${young} collections of what is young`);
  });
});

async function askForLargePages({ database, send }: TestService): Promise<void> {
  const note = "x".repeat(PAGE_BYTES);
  await database.admin`update deals set title = ${note} where fid = 1`;
  const body = { filters: { and: [{ field: "fid", op: "lte", value: 1 }] }, per_page: 1 };
  await Promise.all(Array.from({ length: AT_ONCE }, async () => {
    for (let asked = 0; asked < REQUESTS / AT_ONCE; asked++) {
      const { status, text } = await send("POST", `${PATH}/query`, { body });
      assert(status === 200 && text.length > PAGE_BYTES, text.slice(0, 200));
    }
  }));
}

/** How many megabytes were made, and how many of them were kept, over all lines. */
function weigh(lines: readonly string[]): { readonly made: number; readonly kept: number } {
  let [made, kept] = [0, 0];
  let last: number | undefined;
  for (const line of lines) {
    const [, before, after] = SCAVENGE.exec(line)?.map(Number) ?? [];
    if (before !== undefined && after !== undefined && last !== undefined && before >= last) {
      made += before - last;
      kept += after - last;
    }
    last = after;
  }
  return { made, kept };
}
