import { assert, assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { printBanner } from "../../../../src/cli/serve/first_start.ts";
import { readConfig } from "../../../../src/config/config.ts";
import { mintToken } from "../../../../src/tokens/token_text.ts";

const address = "http://127.0.0.1:8080";

/** Number of lines that a text takes on a terminal of 80 columns. */
function countLines(text: string): number {
  return text.trimEnd().split("\n").reduce(
    (sum, line) => sum + Math.ceil(line.length / 80 || 1),
    0,
  );
}

describe("printBanner", () => {
  const { config } = readConfig({});

  it("fits a screen of 24 lines, with the log lines of the start [R5]", async () => {
    const tokens = await Promise.all(
      ["acme", "globex"].map(async (tenant) => ({ tenant, token: (await mintToken()).token })),
    );
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
