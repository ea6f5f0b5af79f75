import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { isPlainTime } from "../../../src/plan/time_text.ts";

describe("isPlainTime [D3.types]", () => {
  const plain = [
    ["date", "2024-02-29"],
    ["timestamp", "2026-01-31 23:59:59.123456"],
    ["timestamp", "2026-01-31T00:00"],
    ["timestamptz", "2026-01-31T12:00:00.000001+00:00"],
    ["timestamptz", "2026-01-31T12:00:00Z"],
    ["timestamptz", "2026-01-31 12:00:00"],
    ["timestamptz", "2026-01-31 12:00:00+0530"],
    ["time", "23:59:59"],
  ] as const;
  const open = [
    ["date", "2026-02-29"],
    ["date", "2026-13-01"],
    ["date", "0000-01-01"],
    ["date", "yesterday"],
    ["date", "infinity"],
    ["timestamp", "2026-01-31T24:00:00"],
    ["timestamp", "2026-01-31T12:00:00Z"],
    ["timestamptz", "2026-01-31T12:00:00+16:00"],
    ["timestamptz", "January 8, 1999"],
    ["time", "24:00:00"],
    ["inet", "2026-01-31"],
  ] as const;
  for (const [type, text] of plain) {
    it(`knows ${text} as ${type}`, () => assertEquals(isPlainTime(text, type), true));
  }
  for (const [type, text] of open) {
    it(`leaves ${text} as ${type} to Postgres`, () => assertEquals(isPlainTime(text, type), false));
  }
});
