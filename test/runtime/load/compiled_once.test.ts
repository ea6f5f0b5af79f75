import { assert, assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import type { TestService } from "../../support/service.ts";
import { hearV8 } from "./hear_v8.ts";

const PATH = "/integration/tables/deals/records/single";
/** Of a round. */
const REQUESTS = 500;
const AT_ONCE = 8;

/** A busy machine compiles later: the load is repeated until V8 has compiled what is looked for. */
const MOST_ROUNDS = 60;
/** What is thrown away is so twice in a thousand requests, and to be so four times. */
const FURTHER_ROUNDS = 5;
const LOOKED_FOR = ["Query", "Result"];

/** V8 compiles in the thread that serves: one of its own gets too few turns on a busy machine. */
const V8_FLAGS = "--trace-opt,--trace-opt-verbose,--no-concurrent-recompilation";
const COMPILING = /compiling method \S+ <JSFunction (\w+)/;
const ABORTED = /aborted compiling \S+ <JSFunction (\w+)/;

describe("what the driver makes for each query", () => {
  it("is compiled only once", async () => {
    const lines = await hearV8(V8_FLAGS, async (service, heard) => {
      for (let round = 0; round < MOST_ROUNDS && !isCompiled(heard()); round++) {
        await update(service);
      }
      for (let round = 0; round < FURTHER_ROUNDS; round++) await update(service);
    });
    assert(isCompiled(lines), collect(lines, COMPILING).join());
    const aborted = collect(lines, ABORTED);
    const again = aborted.filter((name) => aborted.filter((other) => other === name).length > 3);
    assertEquals([...new Set(again)], []);
  });
});

async function update({ send }: TestService): Promise<void> {
  await Promise.all(Array.from({ length: AT_ONCE }, async (_, client) => {
    for (let asked = 0; asked < REQUESTS / AT_ONCE; asked++) {
      const body = { filters: { fid: 1 + client }, fields: { title: `Deal ${asked}` } };
      const { status, text } = await send("PATCH", PATH, { body });
      assert(status === 200, text);
    }
  }));
}

function isCompiled(lines: readonly string[]): boolean {
  const compiled = collect(lines, COMPILING);
  return LOOKED_FOR.every((name) => compiled.includes(name));
}

/** Names of functions, of each line that has one. */
function collect(lines: readonly string[], pattern: RegExp): readonly string[] {
  return lines.map((line) => pattern.exec(line)?.[1]).filter((name) => name !== undefined);
}
