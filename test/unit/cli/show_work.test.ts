import { assertEquals, assertMatch } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { showWork, type Tell } from "../../../src/cli/show_work.ts";

async function show(work: (tell: Tell) => Promise<void>): Promise<string> {
  let text = "";
  const write = (more: string) => void (text += more);
  const output = { isTerminal: true, write, writeLine() {} };
  await showWork(output, "Filling", work);
  return text;
}

const wait = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** Holds the thread, as the embedded Postgres does. */
function block(ms: number): void {
  for (const end = performance.now() + ms; performance.now() < end;);
}

describe("a long work", () => {
  it("is not shown when it is short", async () => {
    assertEquals(await show((tell) => Promise.resolve(tell("orders"))), "");
  });

  it("is one line on a terminal, which goes at the end", async () => {
    const text = await show(async (tell) => {
      tell("orders");
      await wait(1500);
    });
    // deno-lint-ignore no-control-regex
    assertMatch(text, /^(\r\x1b\[2KFilling: orders, \d+ s)+\r\x1b\[2K$/);
  });

  it("is told between two steps that let no timer strike", async () => {
    const text = await show((tell) => {
      tell("customers");
      block(1100);
      tell("orders");
      tell("order_lines");
      return Promise.resolve();
    });
    // deno-lint-ignore no-control-regex
    assertMatch(text, /^\r\x1b\[2KFilling: orders, \d+ s\r\x1b\[2K$/);
  });

  it("gives what it gives, and its errors", async () => {
    const output = { isTerminal: true, write: () => {}, writeLine: () => {} };
    assertEquals(await showWork(output, "x", () => Promise.resolve(5)), 5);
    const error = new Error("no");
    const failed = showWork(output, "x", () => Promise.reject(error));
    assertEquals(await failed.catch((caught) => caught), error);
  });
});
