import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import fc from "fast-check";
import { sha256, sha256OfLong } from "../../../src/basics/text/sha256.ts";

describe("sha256", () => {
  it("is what Web Crypto computes of the text in UTF-8 [A23]", async () => {
    await fc.assert(fc.asyncProperty(fc.string({ unit: "binary" }), async (text) => {
      const bytes = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
      const digits = [...new Uint8Array(bytes)].map((byte) => byte.toString(16).padStart(2, "0"));
      assertEquals(sha256(text), digits.join(""));
      assertEquals(await sha256OfLong(text), digits.join(""));
    }));
  });
});
