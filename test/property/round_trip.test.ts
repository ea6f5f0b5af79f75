import { assertEquals } from "@std/assert";
import { afterAll, beforeAll, describe, it } from "@std/testing/bdd";
import fc from "fast-check";
import type { Arbitrary } from "fast-check";
import { DATABASE_KINDS } from "../support/database.ts";
import { createTestService } from "../support/service.ts";
import type { TestService } from "../support/service.ts";
import { checkLaw } from "./check_law.ts";
import { recordsOf } from "./open_oracle.ts";

/** Text that Postgres can hold, difficult for JSON, array literals and LIKE. */
const arbitraryText = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.array(fc.constantFrom(...'{}",\\ %_\n\t\u2028\u{1F680}é$1NULL'), { maxLength: 8 })
    .map((characters) => characters.join("")),
).filter((text) => text.isWellFormed() && !text.includes("\0"));

const arbitraryNumber = fc.oneof(
  fc.maxSafeInteger(),
  fc.double({ noNaN: true, min: -1e15, max: 1e15 }).map((value) => value + 0),
);

const { json: arbitraryJson } = fc.letrec<{ json: unknown }>((tie) => ({
  json: fc.oneof(
    { depthSize: "small" },
    fc.constantFrom(null, true, false),
    arbitraryText,
    arbitraryNumber,
    fc.array(tie("json"), { maxLength: 4 }),
    fc.array(
      fc.tuple(fc.oneof(arbitraryText, fc.constantFrom("__proto__", "constructor")), tie("json")),
      { maxLength: 4 },
    ).map((entries) => Object.fromEntries(entries)),
  ),
}));

/** Columns of the fixture's `everything`, and values that come back as they were sent. */
const VALUES: Readonly<Record<string, Arbitrary<unknown>>> = {
  c_text: fc.option(arbitraryText),
  c_varchar: arbitraryText,
  a_text: fc.option(fc.array(fc.option(arbitraryText), { maxLength: 5 })),
  c_json: arbitraryJson.filter((value) => value !== null),
  c_jsonb: arbitraryJson.filter((value) => value !== null),
  a_jsonb: fc.array(arbitraryJson, { maxLength: 3 }),
  c_float8: arbitraryNumber,
  c_numeric: arbitraryNumber,
  c_int8: fc.maxSafeInteger(),
  a_int8: fc.array(fc.option(fc.maxSafeInteger()), { maxLength: 5 }),
  c_bool: fc.option(fc.boolean()),
  a_bool: fc.array(fc.option(fc.boolean()), { maxLength: 5 }),
  c_enum_mixed: fc.constantFrom("red", "Green", 'it\'s "blue"'),
};

for (const kind of DATABASE_KINDS) {
  describe(`what is written is read again, ${kind}`, () => {
    let service: TestService;
    const send = (method: string, operation: string, body: unknown) =>
      service.send(method, `/integration/tables/everything/${operation}`, { body });
    beforeAll(async () => {
      service = await createTestService(kind);
    });
    afterAll(() => service?.close());

    it("in text, numbers, documents and arrays [V17] [V18] [U31] [U9] [U10] [TV28]", async () => {
      const law = fc.asyncProperty(fc.record(VALUES, { requiredKeys: [] }), async (fields) => {
        if (Object.keys(fields).length === 0) return;
        const updated = await send("PATCH", "records/single", { filters: { id: 7 }, fields });
        assertEquals(updated.status, 200, updated.text);
        assertEquals(updated.body.fields, fields);
        const and = [{ field: "id", op: "eq", value: 7 }];
        const select = Object.keys(fields);
        const response = await send("POST", "query", { filters: { and }, select });
        assertEquals(recordsOf(response), [fields]);
      });
      await checkLaw(law, { runs: kind === "real" ? 400 : 150 });
    });
  });
}
