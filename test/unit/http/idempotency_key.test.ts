import { assert, assertEquals, assertMatch, assertThrows } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { ApiError } from "../../../src/errors/api_error.ts";
import {
  digestRequest,
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
      `"${part.repeat(100_000)}`
    );
    const began = performance.now();
    for (const header of ["", '""', "a", '"a', '"a";b', '"a", "a"', '"\\a"', ...long]) {
      const error = assertThrows(() => read(header), ApiError);
      assertEquals(error.status, 400);
      assertMatch(error.message, /^Idempotency-Key: .{2,400} is not a key, expected a string/);
    }
    assert(performance.now() - began < 1000);
  });
});

describe("digestRequest", () => {
  const parts: RequestParts = {
    tenant: "1",
    operation: "update_single",
    schema: "public",
    table: "deals",
    preferences: undefined,
    body: "{}",
  };

  it("is the SHA-256 of all that an answer depends on [IK8] [AU16]", async () => {
    const digest = await digestRequest(parts);
    assertMatch(digest, /^[0-9a-f]{64}$/);
    assertEquals(await digestRequest({ ...parts }), digest);
    for (const name of Object.keys(parts)) {
      assert(await digestRequest({ ...parts, [name]: "other" }) !== digest, name);
    }
  });

  it("differs where a part goes over into the next [IK8]", async () => {
    const one = { ...parts, table: 'a","b', preferences: "c" };
    const other = { ...parts, table: "a", preferences: 'b","c' };
    assert(await digestRequest(one) !== await digestRequest(other));
    const body = { ...parts, preferences: "p", body: "x]y" };
    assert(await digestRequest(body) !== await digestRequest({ ...body, body: "y]x" }));
  });
});
