// A task can not read a constant: the flags of V8 stand in the manifests and in the documents once more.
import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import manifest from "../../deno.json" with { type: "json" };
import npmManifest from "../../package.json" with { type: "json" };
import { HEAP_FLAGS } from "../../src/runtime/heap_flags.ts";
import { COMMANDS } from "../support/runtime_server.ts";
import { readDocument } from "./blocks.ts";

const FLAGS = /--v8-flags=[^\s`]+/g;

describe("the flags of V8", () => {
  it("of `deno task start` are those of the workers and of the binary", () => {
    assertEquals(manifest.tasks.start.command.match(FLAGS), [HEAP_FLAGS]);
  });

  it("of `npm start` are those that Node is tested and measured with", () => {
    assertEquals(npmManifest.scripts.start, [...COMMANDS.node, "serve"].join(" "));
  });

  it("are told to operators as they are", async () => {
    assertEquals((await readDocument("docs/operators.md")).match(FLAGS), [HEAP_FLAGS]);
  });
});
