import { assert, assertEquals, assertMatch } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";
import { chooseStd } from "../../scripts/choose_std.ts";
import { runTests, type Tally } from "../../scripts/run_tests.ts";
import type { RunLimits } from "../../scripts/watch_run.ts";
import { waitUntil } from "../support/wait_until.ts";

const SUPPORT = pathToFileURL(`${import.meta.dirname}/../support/`).href;
/** What a test of these files may take; the run has no end of its own unless a test says so. */
const SHORT = { ROWGATE_TEST_LIMIT_MS: "1000" };
const LONG: RunLimits = { stuckMs: Infinity, wholeMs: Infinity };

/** Runs one test file with this text in a folder that is removed afterwards. */
async function runText(
  text: (folder: string) => string,
  { limits = LONG, environment = {} }: {
    readonly limits?: RunLimits;
    readonly environment?: Readonly<Record<string, string>>;
  },
  check: (tally: Tally, folder: string) => Promise<void> | void,
): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "rowgate-hanging-"));
  try {
    const file = join(folder, "hanging.test.ts");
    await writeFile(
      file,
      `import { after, afterEach, before, describe, it } from "@std/testing/bdd";
      import { spawn } from "node:child_process";
      import { existsSync, writeFileSync } from "node:fs";
      import { currentSignal } from "${SUPPORT}current_test.ts";
      import { waitUntil } from "${SUPPORT}wait_until.ts";
      ${text(folder)}`,
    );
    const { words } = await chooseStd(["--std=stand-ins"]);
    const tally = await runTests([file], {
      ...{ folder, words, label: "hanging", environment, limits },
      signal: new AbortController().signal,
    });
    await check(tally, folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const namesOf = ({ failures }: Tally) => failures.map(({ name }) => name);

describe("a test that hangs", () => {
  it("fails by itself, restores what it has broken, and the tests after it run", async () => {
    const text = (folder: string) =>
      `describe("a group", () => {
        afterEach(() => writeFileSync("${folder}/afterwards", ""));
        it("hangs", () => new Promise(() => {}));
        it("waits", async () => {
          try {
            await waitUntil(() => false);
          } finally {
            writeFileSync("${folder}/restored", "");
          }
        });
        it("passes", () => {});
      });
      describe("another group", () => {
        before(() => new Promise(() => {}));
        it("has a hook that hangs", () => {});
      });
      it("passes as well", () => {});`;
    await runText(text, { environment: SHORT }, async (tally, folder) => {
      assertEquals(tally.passed, 2);
      for (const name of ["a group > hangs", "a group > waits", "another group"]) {
        const failure = tally.failures.find((failure) => failure.name.includes(name));
        assertMatch(failure?.reason ?? "", /It did not end in 1 s/, namesOf(tally).join("\n"));
      }
      for (const name of ["afterwards", "restored"]) await readFile(join(folder, name));
    });
  });

  it("ends the clients that were started with its signal, as one that fails does", async () => {
    const text = (folder: string) =>
      `it("fails", async () => {
        const signal = currentSignal();
        void (async () => {
          while (!signal.aborted) await new Promise((resolve) => setTimeout(resolve, 1));
          writeFileSync("${folder}/stopped", "");
        })();
        throw new Error("it fails");
      });
      it("comes next", () => waitUntil(() => existsSync("${folder}/stopped")));`;
    await runText(text, {}, (tally) => {
      assertEquals([tally.passed, tally.failed], [1, 1]);
    });
  });
});

describe("a run that hangs", () => {
  it("is ended with its processes, and names the test that no longer responds", async () => {
    const text = (folder: string) =>
      `it("passes", () => {});
      it("computes for ever", () => {
        const child = spawn("sleep", ["1000"]);
        writeFileSync("${folder}/pid", String(child.pid));
        process.kill(child.pid, "SIGSTOP");
        for (;;);
      });`;
    const limits = { ...LONG, stuckMs: 2000 };
    await runText(text, { limits }, async (tally, folder) => {
      assertEquals([tally.passed, tally.failed], [1, 2]);
      const [stuck, run] = tally.failures;
      assert(stuck!.name.endsWith("hanging.test.ts computes for ever"), stuck!.name);
      assertMatch(stuck!.reason, /^still running after \d+ s$/);
      assertMatch(run!.reason, /computes for ever did not end in 2 s/);
      const pid = Number(await readFile(join(folder, "pid"), "utf8"));
      await waitUntil(() => !isRunning(pid));
    });
  });

  it("is ended when it takes too long, also before a test has begun", async () => {
    const limits = { ...LONG, wholeMs: 3000 };
    await runText(() => "await new Promise((resolve) => setInterval(resolve, 2 ** 31 - 1));", {
      limits,
    }, (tally) => {
      assertEquals([tally.passed, namesOf(tally)], [0, ["the run was ended"]]);
    });
  });
});

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
