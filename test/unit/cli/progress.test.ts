import { assertEquals, assertMatch } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { openProgress, type Report, showWork } from "../../../src/cli/progress.ts";

function record(isTerminal: boolean) {
  const written: string[] = [];
  let nowMs = 0;
  const write = (text: string) => void written.push(text);
  const output = { isTerminal, write, writeLine() {} };
  const progress = openProgress(output, () => nowMs);
  return { written, progress, pass: (ms: number) => nowMs += ms };
}

describe("openProgress", () => {
  it("overwrites one line of a terminal, at most ten times a second, and clears it", () => {
    const { written, progress, pass } = record(true);
    progress.show("too soon");
    pass(100);
    progress.show("first\u001b[31m");
    progress.show("too soon");
    pass(100);
    progress.show("second");
    progress.clear();
    assertEquals(written, ["\r\x1b[2Kfirst�[31m", "\r\x1b[2Ksecond", "\r\x1b[2K"]);
  });

  it("writes plain lines elsewhere, one every ten seconds", () => {
    const { written, progress, pass } = record(false);
    for (let second = 1; second <= 21; second++) {
      pass(1000);
      progress.show(`second ${second}`);
    }
    progress.clear();
    assertEquals(written, ["second 10\n", "second 20\n"]);
  });

  it("clears only what it has shown", () => {
    const { written, progress } = record(true);
    progress.clear();
    assertEquals(written, []);
  });
});

async function show(work: (report: Report) => Promise<void>): Promise<string> {
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

describe("showWork", () => {
  it("shows nothing when the work is short", async () => {
    assertEquals(await show((report) => Promise.resolve(report("orders"))), "");
  });

  it("shows one line on a terminal, which is cleared at the end", async () => {
    const text = await show(async (report) => {
      report("orders");
      await wait(1500);
    });
    // deno-lint-ignore no-control-regex
    assertMatch(text, /^(\r\x1b\[2KFilling: orders, \d+ s)+\r\x1b\[2K$/);
  });

  it("shows a line between two steps that let no timer fire", async () => {
    const text = await show((report) => {
      report("customers");
      block(1100);
      report("orders");
      report("order_lines");
      return Promise.resolve();
    });
    // deno-lint-ignore no-control-regex
    assertMatch(text, /^\r\x1b\[2KFilling: orders, \d+ s\r\x1b\[2K$/);
  });

  it("returns what the work returns, and throws what it throws", async () => {
    const output = { isTerminal: true, write: () => {}, writeLine: () => {} };
    assertEquals(await showWork(output, "x", () => Promise.resolve(5)), 5);
    const error = new Error("no");
    const failed = showWork(output, "x", () => Promise.reject(error));
    assertEquals(await failed.catch((caught) => caught), error);
  });
});
