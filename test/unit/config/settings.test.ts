import { assert, assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { describeSettings } from "../../../src/server/config/describe_settings.ts";
import { SETTINGS } from "../../../src/server/config/settings.ts";

describe("the settings", () => {
  const settings = Object.values(SETTINGS);

  it("have a variable and a line of help each [R30]", () => {
    assertEquals(new Set(settings.map(({ variable }) => variable)).size, settings.length);
    const lines = describeSettings().split("\n");
    for (const { variable, help } of settings) {
      assert(lines.some((line) => line.startsWith(`  ${variable} `) && line.includes(help)));
    }
    assertEquals(lines.filter((line) => line.length > 100), []);
  });

  it("have a default text that is read as the default", () => {
    for (const { defaultText, default: preset, parse, variable } of settings) {
      if (defaultText === "none") continue;
      assertEquals<unknown>(parse(defaultText), { value: preset }, variable);
    }
  });
});
