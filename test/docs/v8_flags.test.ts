// package.json and the documents repeat flags of V8, because neither can read a constant.
import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { execFile } from "node:child_process";
import process from "node:process";
import { promisify } from "node:util";
import manifest from "../../deno.json" with { type: "json" };
import npmManifest from "../../package.json" with { type: "json" };
import { V8_FLAGS } from "../../src/server/runtime/v8_flags.ts";
import { COMMANDS } from "../support/runtime_server.ts";
import { readDocument } from "./blocks.ts";

const FLAGS = /--v8-flags=[^\s`]+/g;

describe("the flags of V8", () => {
  it("of `deno task start` are the flags of the workers and the binary", async () => {
    const [, script] = /^deno run -A \$\(deno run (\S+)\) src\/main\.ts serve$/
      .exec(manifest.tasks.start.command) ?? [];
    const { stdout } = await promisify(execFile)(process.execPath, ["run", script!]);
    assertEquals(stdout.trim(), V8_FLAGS);
  });

  it("of `npm start` are the flags that tests and benchmarks use on Node", () => {
    assertEquals(npmManifest.scripts.start, [...COMMANDS.node, "serve"].join(" "));
  });

  it("in docs/operators.md are the same", async () => {
    assertEquals((await readDocument("docs/operators.md")).match(FLAGS), [V8_FLAGS]);
  });
});
