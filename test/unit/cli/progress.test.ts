import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { openProgress } from "../../../src/cli/progress.ts";

function record(isTerminal: boolean) {
  const written: string[] = [];
  let nowMs = 0;
  const write = (text: string) => void written.push(text);
  const output = { isTerminal, write, writeLine() {} };
  const progress = openProgress(output, () => nowMs);
  return { written, progress, pass: (ms: number) => nowMs += ms };
}

describe("openProgress", () => {
  it("writes over one line of a terminal, ten times a second at most, and leaves nothing", () => {
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

  it("writes plain lines elsewhere, one each ten seconds", () => {
    const { written, progress, pass } = record(false);
    for (let second = 1; second <= 21; second++) {
      pass(1000);
      progress.show(`second ${second}`);
    }
    progress.clear();
    assertEquals(written, ["second 10\n", "second 20\n"]);
  });

  it("clears nothing that it has not shown", () => {
    const { written, progress } = record(true);
    progress.clear();
    assertEquals(written, []);
  });
});
