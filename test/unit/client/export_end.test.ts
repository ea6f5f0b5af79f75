import { assertEquals, assertThrows } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { openExportEnd } from "../../../src/client/export_end.ts";

const encode = (text: string) => new TextEncoder().encode(text);

/** Reads a text in pieces of so many bytes. */
function read(form: "ndjson" | "csv", text: string, size: number) {
  const end = openExportEnd(form);
  const bytes = encode(text);
  let kept = "";
  for (let at = 0; at < bytes.length; at += size) {
    kept += new TextDecoder().decode(end.take(bytes.slice(at, at + size)));
  }
  return { kept, records: end.records(), isWhole: end.isWhole() };
}

/** The second field of the record looks like an end. */
const CSV = 'id,note\r\n1,"a\r\n 1\r\n ""x"""\r\n2,"\r\n 2\r\n"\r\n';
const LINES = '{"id":1}\n{"id":"\\n2\\n"}\n';

describe("the end of an export", () => {
  for (const size of [1, 2, 3, 7, 1000]) {
    it(`is found in pieces of ${size} bytes, and is no part of the records [EX26]`, () => {
      for (const [form, text, end] of [["csv", CSV, " 2\r\n"], ["ndjson", LINES, "2\n"]] as const) {
        assertEquals(read(form, text + end, size), { kept: text, records: 2, isWhole: true });
      }
    });
  }

  it("is missing wherever a body is cut off [EX26]", () => {
    for (const [form, whole] of [["csv", `${CSV} 2\r\n`], ["ndjson", `${LINES}2\n`]] as const) {
      for (let length = 0; length < whole.length; length++) {
        assertEquals(read(form, whole.slice(0, length), 4).isWhole, false, whole.slice(0, length));
      }
    }
  });

  it("is not believed with another count, and nothing may follow it [EX26]", () => {
    assertEquals(read("ndjson", `${LINES}3\n`, 5).isWhole, false);
    assertEquals(read("csv", `${CSV} 1\r\n`, 5).isWhole, false);
    assertEquals(read("ndjson", `${LINES}2\n{}\n`, 5).isWhole, false);
    assertThrows(() => read("ndjson", `${LINES}2\n${LINES.repeat(9)}`, 5));
    assertEquals(read("ndjson", "0\n", 5), { kept: "", records: 0, isWhole: true });
    assertEquals(read("csv", "id\r\n 0\r\n", 5).isWhole, true);
  });
});
