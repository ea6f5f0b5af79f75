import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { runDeno } from "../support/run_deno.ts";

describe("the micro-benchmarks", () => {
  it("start, and the service that they measure answers with 200", async () => {
    // Each file is run up to its first benchmark; no benchmark has a name that is empty.
    const parameters = ["bench", "-A", "--no-check", "--filter=/^$/", "scripts/bench/micro/"];
    const { code, output } = await runDeno(parameters);
    assertEquals(code, 0, output);
  });
});
