import { assert, assertEquals, assertMatch, assertThrows } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { ApiError } from "../../../src/basics/errors/api_error.ts";
import {
  nameRequest,
  readIdempotencyKey,
  type RequestParts,
} from "../../../src/http/idempotency_key.ts";

const read = (header: string) =>
  readIdempotencyKey(
    new Request("http://rows.example", { headers: { "idempotency-key": header } }),
  );

describe("readIdempotencyKey", () => {
  it("takes a string of RFC 8941 [IK1]", () => {
    assertEquals(readIdempotencyKey(new Request("http://rows.example")), undefined);
    assertEquals(read('"a b"'), "a b");
    assertEquals(read(String.raw`"say \"hi\" \\ there"`), String.raw`say "hi" \ there`);
    assertEquals(read(`"${"x".repeat(255)}"`)?.length, 255);
    assertEquals(read(`"${String.raw`\\`.repeat(255)}"`)?.length, 255);
  });

  it("rejects anything else, in linear time [IK1] [IK2]", () => {
    const long = ["x", String.raw`\"`, String.raw`\x`, '"', " "].map((part) =>
      `"${part.repeat(1_000_000)}`
    );
    // With the square of their length, it would not end.
    for (const header of ["", '""', "a", '"a', '"a";b', '"a", "a"', '"\\a"', ...long]) {
      const error = assertThrows(() => read(header), ApiError);
      assertEquals(error.status, 400);
      assertMatch(error.message, /^Idempotency-Key: .{2,400} is not a key, expected a string/);
    }
  });
});

describe("nameRequest", () => {
  const parts: RequestParts = {
    tenant: "1",
    operation: "update_single",
    schema: "public",
    table: "deals",
    preferences: undefined,
    body: "{}",
  };

  it("differs with all that an answer depends on, and is short [IK8] [AU16]", async () => {
    for (const body of ["{}", `{${" ".repeat(100_000)}}`]) {
      const name = await nameRequest({ ...parts, body });
      assertEquals(await nameRequest({ ...parts, body }), name);
      assert(name.length < 200, name);
      for (const part of Object.keys(parts)) {
        assert(await nameRequest({ ...parts, body, [part]: "other" }) !== name, part);
      }
      assert(await nameRequest({ ...parts, body: `${body} ` }) !== name);
    }
  });

  it("differs where a part goes over into the next [IK8]", async () => {
    const one = { ...parts, table: 'a","b', preferences: "c" };
    const other = { ...parts, table: "a", preferences: 'b","c' };
    assert(await nameRequest(one) !== await nameRequest(other));
    const body = { ...parts, preferences: "p", body: "x]y" };
    assert(await nameRequest(body) !== await nameRequest({ ...body, body: "y]x" }));
  });
});
