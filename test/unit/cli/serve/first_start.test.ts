import { assert, assertEquals, assertMatch } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { announceFirstStart, printBanner } from "../../../../src/cli/serve/first_start.ts";
import { type Config, readConfig } from "../../../../src/server/config/config.ts";
import type { Output } from "../../../../src/server/runtime/host.ts";
import { mintToken } from "../../../../src/access/tokens/token_text.ts";

const address = "http://127.0.0.1:8080";

/** Number of lines that a text takes on a terminal of 80 columns. */
function countLines(text: string): number {
  return text.trimEnd().split("\n").reduce(
    (sum, line) => sum + Math.ceil(line.length / 80 || 1),
    0,
  );
}

describe("announceFirstStart", () => {
  it("says what a first start does before it begins, and nothing of a later one [R56]", async () => {
    const dataDir = await mkdtemp(join(tmpdir(), "rowgate-first-"));
    try {
      const config = { dataDir } as Config;
      let said = "";
      const output = { isTerminal: false, write: (text: string) => void (said += text) };
      await announceFirstStart(config, output as unknown as Output);
      assertMatch(said, /^First start: creating an embedded Postgres in [^\n]*\n$/);
      await mkdir(join(dataDir, "postgres"));
      said = "";
      await announceFirstStart(config, output as unknown as Output);
      assertEquals(said, "");
    } finally {
      await rm(dataDir, { recursive: true });
    }
  });
});

describe("printBanner", () => {
  const { config } = readConfig({});

  it("fits a screen of 24 lines, with the log lines of the start [R5]", () => {
    const tokens = ["acme", "globex"].map((tenant) => ({ tenant, token: mintToken().token }));
    const banner = printBanner({ address, config: config!, demonstration: { tokens } });
    assert(countLines(banner) <= 22, banner);
    for (const { token } of tokens) assert(banner.includes(token));
    assertEquals(banner.match(/^curl /gm)?.length, 2);
  });

  it("says how to create a token when the data is of an earlier start [R3]", () => {
    const banner = printBanner({ address, config: config!, demonstration: undefined });
    assert(banner.includes("rowgate token create --tenant acme"));
    assert(countLines(banner) <= 22, banner);
  });
});
