import { assertEquals, assertRejects } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { ApiError } from "../../../src/basics/errors/api_error.ts";
import { findAccess } from "../../../src/http/authenticate.ts";
import type { Access } from "../../../src/access/tokens/token.ts";

const ACCESS: Access = {
  tokenId: "a",
  name: null,
  tenant: "1",
  scopes: ["query"],
  tables: null,
  expiresAt: null,
};

function send(authorization: string | null): { asked: string[]; access: Promise<Access> } {
  const asked: string[] = [];
  const headers = new Headers(authorization === null ? {} : { authorization });
  const find = (token: string) => {
    asked.push(token);
    return Promise.resolve(token === "good" ? ACCESS : null);
  };
  return { asked, access: findAccess(new Request("http://localhost/", { headers }), { find }) };
}

async function reject(authorization: string | null) {
  const { asked, access } = send(authorization);
  const { status, message, headers } = await assertRejects(() => access, ApiError) as ApiError;
  return { asked, status, message, challenge: headers["www-authenticate"] };
}

describe("findAccess", () => {
  for (const header of ["Bearer good", "bearer good", "BEARER good", "Bearer  good"]) {
    it(`takes ${JSON.stringify(header)} [AU3]`, async () => {
      assertEquals(await send(header).access, ACCESS);
    });
  }

  for (const header of [null, "", "Bearer", "Bearer  ", "Basic Z29vZA==", "Token x", "good"]) {
    it(`rejects ${JSON.stringify(header)} as if no token was sent [A2] [AU1] [AU2]`, async () => {
      assertEquals(await reject(header), {
        asked: [],
        status: 401,
        message: 'Authorization: no API token, expected "Bearer <API token>"',
        challenge: "Bearer",
      });
    });
  }

  for (const token of ["a b", 'a"', "a%00é", "good, Bearer good", "x".repeat(256), "=", "a,b"]) {
    it(`rejects ${token.slice(0, 20)} without a look-up [A22] [A3] [AU4] [AU5]`, async () => {
      const { asked, status, challenge } = await reject(`Bearer ${token}`);
      assertEquals([asked, status], [[], 401]);
      assertEquals(challenge, 'Bearer error="invalid_token"');
    });
  }

  it("says the same of a token that no store knows as of a malformed one [A7]", async () => {
    const unknown = await reject("Bearer unknown");
    const malformed = await reject("Bearer a,b");
    assertEquals(unknown.asked, ["unknown"]);
    assertEquals({ ...unknown, asked: [] }, malformed);
  });

  it("does not take a store that is unavailable for a wrong token [AU17]", async () => {
    const unavailable = new ApiError(503, "unavailable");
    const request = new Request("http://localhost/", { headers: { authorization: "Bearer good" } });
    const find = () => Promise.reject(unavailable);
    assertEquals(await assertRejects(() => findAccess(request, { find })), unavailable);
  });
});
