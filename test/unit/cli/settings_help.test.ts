import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { SETTINGS_HELP } from "../../../src/cli/settings_help.ts";
import { SETTINGS } from "../../../src/config/settings.ts";

describe("the variables of rowgate serve --help", () => {
  it("are those that are read, with their defaults [R30]", () => {
    assertEquals(Object.keys(SETTINGS_HELP).sort(), Object.keys(SETTINGS).sort());
    for (const [name, { default: preset }] of Object.entries(SETTINGS)) {
      const told = SETTINGS_HELP[name]!.split(":")[0];
      if (typeof preset === "boolean") assertEquals(told, preset ? "on" : "off", name);
      else if (typeof preset !== "object" && preset !== undefined) {
        assertEquals(told, String(preset), name);
      }
    }
  });
});
