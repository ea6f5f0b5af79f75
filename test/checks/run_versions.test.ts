import { assertEquals, assertThrows } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { readVersions } from "../../scripts/run_versions.ts";

describe("deno task test --postgres", () => {
  it("runs the conformance tests on each version, or what it is given", () => {
    assertEquals(readVersions(["--postgres=14,18"]), {
      majors: ["14", "18"],
      parameters: ["test/conformance"],
    });
    assertEquals(readVersions(["test/unit", "--postgres=14", "--filter=[U20]"]), {
      majors: ["14"],
      parameters: ["test/unit", "--filter=[U20]"],
    });
    assertEquals(readVersions(["test/unit"]), undefined);
  });

  it("rejects what is no version", () => {
    for (const wrong of ["", "14,", "latest", "/usr/bin"]) {
      assertThrows(() => readVersions([`--postgres=${wrong}`]), Error, "expected major versions");
    }
  });
});
