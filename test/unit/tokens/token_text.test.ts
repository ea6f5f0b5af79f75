import { assert, assertEquals, assertMatch, assertNotEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import fc from "fast-check";
import { checkToken, digest, mintToken } from "../../../src/access/tokens/token_text.ts";

describe("mintToken", () => {
  it("mints rg_ + id + _ + 43 characters + checksum of 6 [A21]", () => {
    const { id, token } = mintToken();
    assertMatch(token, /^rg_[0-9A-Za-z]{11}_[0-9A-Za-z]{49}$/);
    assertEquals(token.slice(3, 14), id);
  });

  it("mints a token that passes the check, with its SHA-256 [A23]", () => {
    for (let count = 0; count < 200; count++) {
      const minted = mintToken();
      assertEquals(checkToken(minted.token), minted.id);
      assertEquals(minted.digest, digest(minted.token));
      assertMatch(minted.digest, /^[0-9a-f]{64}$/);
    }
  });

  it("uses every character in every place but the first of the secret [A21]", () => {
    const seen = Array.from({ length: 43 }, () => new Set<string>());
    for (let count = 0; count < 1500; count++) {
      const { token } = mintToken();
      [...token.slice(15, 58)].forEach((character, place) => seen[place]?.add(character));
    }
    seen.slice(1).forEach((characters) => assertEquals(characters.size, 62));
    assert((seen[0]?.size ?? 0) > 55);
  });
});

describe("digest", () => {
  it("is SHA-256 in hex [A23]", () => {
    assertEquals(
      digest("abc"),
      "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
    );
  });
});

describe("checkToken", () => {
  it("rejects a token with any one character changed [A22]", () => {
    const { token } = mintToken();
    const places = fc.integer({ min: 0, max: token.length - 1 });
    const characters = fc.constantFrom(..."09AZaz_ é\n");
    fc.assert(fc.property(places, characters, (place, character) => {
      const changed = token.slice(0, place) + character + token.slice(place + 1);
      assertEquals(checkToken(changed) === undefined, changed !== token);
    }));
  });

  it("rejects any other text [A3]", () => {
    fc.assert(fc.property(fc.string({ unit: "binary" }), (text) => {
      assertEquals(checkToken(text), undefined);
    }));
    const { token } = mintToken();
    for (const text of [`${token} `, ` ${token}`, `${token}\n`, token.toLowerCase(), `${token}0`]) {
      assertNotEquals(text, token);
      assertEquals(checkToken(text), undefined);
    }
  });
});
