import { assert, assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { readFile } from "node:fs/promises";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { awaitFeeds, enableFeeds } from "../support/feeds.ts";
import { COMMANDS, RUNTIMES } from "../support/runtime_server.ts";
import { createTestService } from "../support/service.ts";
import { startProcess } from "./run_process.ts";

const BUNDLE = fileURLToPath(new URL("../../dist/client.js", import.meta.url));
const PROGRAM = "test/runtime/client_program.js";
const MAX_BYTES = 14_000;

const RUN = {
  // A program that only asks needs no more than the network and its arguments.
  deno: [
    process.execPath,
    "run",
    "--allow-net",
    "--allow-read=dist/client.js",
    "--no-config",
    "--quiet",
    PROGRAM,
  ],
  bun: [COMMANDS.bun[0]!, PROGRAM],
  node: ["node", PROGRAM],
};

describe("the client as it is shipped", () => {
  it(`is smaller than ${MAX_BYTES} bytes, and imports nothing`, async () => {
    const text = await readFile(BUNDLE, "utf8");
    assert(new TextEncoder().encode(text).length < MAX_BYTES, String(text.length));
    assert(!/\bimport\b|\brequire\b|\bprocess\b|\bDeno\b|\bBun\b|\bBuffer\b/.test(text));
  });

  for (const runtime of RUNTIMES) {
    it(`queries, pages, polls, follows and updates on ${runtime}, against a server on ${runtime} [CL1]`, async () => {
      const service = await createTestService("real", { runtime });
      try {
        await enableFeeds(service, ["guests"]);
        await awaitFeeds(service, ["guests"]);
        const { address } = service.server!;
        const [command = "", ...before] = RUN[runtime];
        const program = startProcess(command, [...before, address, service.tokens.a]);
        assertEquals(await program.ended, 0, program.output().stderr);
        const { updated, bulk, polled, ...found } = JSON.parse(program.output().stdout);
        const keys = Array.from({ length: 60 }, (_, index) => index + 1);
        assertEquals(found, {
          keys,
          tenant: "1",
          matched: [409, 30, true],
          unsent: ["filters.fid", 0],
          paths: ["filters.and[0].value"],
          followed: [
            ...[1, 2, 3, 4, 5].map((id) => [id, `Guest ${id}`]),
            [2, "while it is open"],
            0,
            [3, "while it is closed"],
          ],
          later: [true, [{ name: "later" }]],
          unreachable: [0, 2],
        });
        assertEquals([updated.matched, updated.updated, bulk.updated], [1, 1, 1]);
        // In the order of their times; the one that was changed first comes last, then the one that was changed meanwhile.
        assertEquals(polled, [...keys.filter((key) => key !== 7), 7, 3]);
      } finally {
        await service.close();
      }
    });
  }
});
