import { assertEquals } from "@std/assert";
import { it } from "@std/testing/bdd";
import { checksumTenant } from "../support/checksum.ts";
import { assertOk, assertRejected } from "./assert_response.ts";
import { describeSharedService } from "./describe_service.ts";

const text = new TextEncoder();
const bytes = (...parts: (string | number[])[]) =>
  new Uint8Array(parts.flatMap((part) => typeof part === "string" ? [...text.encode(part)] : part));

const BROKEN: readonly [string, string | Uint8Array<ArrayBuffer>][] = [
  ["nothing [HT10]", ""],
  ["white space alone [HT10]", " \n"],
  ["an end too early", '{"page": 1'],
  ["trailing text [E16] [HT13]", "{} x"],
  ["two documents [E16] [HT13]", "{}{}"],
  ["a trailing comma", '{"page": 1,}'],
  ["single quotes [HT13]", "{'page': 1}"],
  ["a comment [HT13]", "{} // x"],
  ["a bare key", "{page: 1}"],
  ["NaN [HT13]", '{"page": NaN}'],
  ["a number with a leading zero", '{"page": 01}'],
  ["a number that begins with plus", '{"page": +1}'],
  ["a control character in a string", '{"select": ["fi\nd"]}'],
  ["a wrong escape", '{"select": ["\\x66id"]}'],
  ["a byte order mark [E15] [HT11]", "\ufeff{}"],
  ["invalid UTF-8 in a string [E14] [HT12]", bytes('{"select": ["', [0xff, 0xfe], '"]}')],
  ["overlong UTF-8 [E14] [HT12]", bytes('{"select": ["', [0xc0, 0xaf], '"]}')],
  ["a surrogate in UTF-8 [E14]", bytes('{"select": ["', [0xed, 0xa0, 0x80], '"]}')],
  ["UTF-8 cut short [E14] [HT12]", bytes('{"select": ["fid"]}', [0xc3])],
  ["UTF-16", bytes([0x7b, 0x00, 0x7d, 0x00])],
  ["a NUL after the end", "{}\u0000"],
];

const TWICE: readonly [string, string][] = [
  ['{"page": 1, "page": 2}', "page"],
  ['{"page": 1, "\\u0070age": 2}', "page"],
  ['{"filters": {"and": [], "and": []}}', "and"],
  ['{"filters": {"and": [{"field": "fid", "op": "eq", "value": 1, "value": 2}]}}', "value"],
  ['{"sort": [{"field": "fid", "field": "title"}]}', "field"],
  ['{"__proto__": 1, "__proto__": 2}', "__proto__"],
];

describeSharedService("Errors, strict JSON", ({ query, single, bulk, service }) => {
  for (const [name, raw] of BROKEN) {
    it(`rejects ${name}`, async () => {
      for (const send of [query, single, bulk]) {
        assertRejected(await send("deals", undefined, { raw }), 400);
      }
    });
  }

  for (const [raw, key] of TWICE) {
    it(`rejects a key twice in one object: ${raw} [E13] [HT14]`, async () => {
      assertRejected(await query("deals", undefined, { raw }), 400, `"${key}"`);
    });
  }

  it("rejects a key twice in filters or fields of an update, and changes nothing [E13] [US23]", async () => {
    const before = await checksumTenant(service().database.admin, 1);
    for (
      const raw of [
        '{"filters": {"fid": 1, "fid": 2}, "fields": {"note": "x"}}',
        '{"filters": {"fid": 1, "\\u0066id": 2}, "fields": {"note": "x"}}',
        '{"filters": {"fid": 1}, "fields": {"note": "x", "note": "y"}}',
        '{"filters": {"fid": 1}, "filters": {"status": "open"}, "fields": {"note": "x"}}',
        '{"filters": {"fid": 1}, "fields": {"data": {"a": 1, "a": 2}}}',
      ]
    ) {
      for (const update of [single, bulk]) {
        assertRejected(await update("deals", undefined, { raw }), 400);
      }
    }
    assertEquals(await checksumTenant(service().database.admin, 1), before);
  });

  it("takes the same key in different objects, white space and escapes [E13]", async () => {
    const raw =
      '\t{ "filters" :\r\n{"and":[{"field":"fid","op":"eq","value":1},{"field":"\\u0066id","op":"eq","value":1.0e0}]} } ';
    assertEquals(assertOk(await query("deals", undefined, { raw }))["total"], 1);
  });

  it("takes escaped surrogate pairs for the character that they are [V8]", async () => {
    const raw =
      '{"filters": {"and": [{"field": "title", "op": "like", "value": "%\\ud83d\\ude80"}]}}';
    assertEquals(assertOk(await query("deals", undefined, { raw }))["total"], 6);
  });

  it("takes a body that comes in pieces, cut within a character [E14]", async () => {
    const whole = bytes(
      '{"filters": {"and": [{"field": "title", "op": "eq", "value": "Deal 8 Größe 🚀"}]}}',
    );
    const raw = new ReadableStream<Uint8Array<ArrayBuffer>>({
      start(controller) {
        for (let n = 0; n < whole.length; n += 7) controller.enqueue(whole.slice(n, n + 7));
        controller.close();
      },
    });
    assertEquals(assertOk(await query("deals", undefined, { raw }))["total"], 1);
  });

  it("rejects very deep nesting, and goes on serving [FS9]", async () => {
    for (
      const raw of [
        "[".repeat(100_000),
        '{"a":'.repeat(50_000),
        `{"filters": ${'{"and": ['.repeat(100_000)}`,
        `{"filters": ${'{"and": ['.repeat(60)}{}${"]}".repeat(60)}}`,
        `{"filters": ${'{"or":['.repeat(80_000)}${"]}".repeat(80_000)}}`,
        `{"filters": ${"[".repeat(5000)}${"]".repeat(5000)}}`,
      ]
    ) {
      assertRejected(await query("deals", undefined, { raw }), 400);
    }
    assertOk(await query("deals"));
  });
});
