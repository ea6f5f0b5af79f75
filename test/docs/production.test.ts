// The command for production in the README names the version and the permissions that the tests use.
import { assert, assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import process from "node:process";
import { SERVING } from "../../scripts/permissions.ts";
import { readDocument } from "./blocks.ts";

const COMMAND = /npx -y deno@(\d+)\.(\d+)\.(\d+) run (.+) src\/main\.ts serve$/gm;

describe("the command for production", () => {
  it("names the version of Deno and the permissions that it needs [CF22]", async () => {
    const found = [...(await readDocument("README.md")).matchAll(COMMAND)];
    assertEquals(found.length, 1);
    const [, major, minor, patch, permissions = ""] = found[0]!;
    const named = [major, minor, patch].map(Number);
    const running = process.versions.deno!.split(".").map(Number);
    assertEquals(named[0], running[0]);
    // A newer Deno is no reason to change the documents.
    const newer = named.findIndex((part, place) => part !== running[place]);
    assert(newer < 0 || named[newer]! < running[newer]!, `${named} is newer than ${running}`);
    assertEquals(permissions.split(" "), [...SERVING]);
  });

  it("is the only command in the documents that serves an own Postgres on Deno [CF22]", async () => {
    for (const page of ["README.md", "docs/operators.md"]) {
      assert(!/deno task( -q)? rowgate serve/.test(await readDocument(page)), page);
    }
  });
});
