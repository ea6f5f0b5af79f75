import { assert, assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { quote } from "../../../src/basics/errors/issue.ts";
import { redactTokens } from "../../../src/basics/text/redact.ts";
import { mintToken } from "../../../src/access/tokens/token_text.ts";

describe("redactTokens", () => {
  it("leaves only the id of a token: whole, cut, or percent-encoded [AU19]", () => {
    const { token, id } = mintToken();
    assertEquals(redactTokens(`a ${token}.`), `a rg_${id}_….`);
    assertEquals(redactTokens(`x${token}`), `xrg_${id}_…`);
    assertEquals(redactTokens(token.replaceAll("_", "%255f")), `rg%255f${id}%255f…`);
    for (let end = 23; end < token.length; end++) {
      assertEquals(redactTokens(token.slice(0, end)), `rg_${id}_…`);
    }
    const encoded = [...token].map((letter) => `%${letter.charCodeAt(0).toString(16)}`).join("");
    assert(redactTokens(encoded).length < 60);
    assertEquals(quote(`${"x".repeat(50)}${token}`), `"${"x".repeat(50)}rg_${id}_…"`);
  });

  it("removes the secret part of a token that stands alone, with or without its checksum [AU19]", () => {
    for (let round = 0; round < 100; round++) {
      const secret = mintToken().token.slice("rg_".length + 12);
      for (const part of [secret, secret.slice(0, -6), `x-${secret}`, `a/${secret}?b`]) {
        assertEquals(redactTokens(part).includes(secret.slice(8, 30)), false, part);
      }
    }
    const kept = `${"0123456789abcdef".repeat(4)} ${crypto.randomUUID()} ${"A".repeat(60)}`;
    assertEquals(redactTokens(kept), kept);
  });

  it("leaves the names of tables and columns as they are", () => {
    for (
      const name of ["org_units", "org_memberships_old", "rg_", "rg_a_b", "org_customers_archive"]
    ) {
      assertEquals(
        redactTokens(`/integration/tables/${name}/query?50%25`),
        `/integration/tables/${name}/query?50%25`,
      );
    }
  });

  it("takes time in proportion to the text", () => {
    // With the square of it, it would not end.
    const parts = ["a".repeat(1_000_000), "%25".repeat(1_000_000), "r%25".repeat(500_000)];
    assert(redactTokens(`rg_${parts.join("")}`).length > 0);
  });
});
