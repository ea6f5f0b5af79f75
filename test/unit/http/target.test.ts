import { assertEquals, assertThrows } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { ApiError } from "../../../src/basics/errors/api_error.ts";
import { checkHost } from "../../../src/http/target.ts";

/** A request as a server makes it, where a name that is none may stand in the URL. */
function makeRequest(host: string | null, url = `http://${host ?? "localhost"}/livez`): Request {
  return { headers: new Headers(host === null ? {} : { host }), url } as Request;
}

describe("checkHost", () => {
  for (
    const host of [null, "localhost", "localhost:8080", "[::1]:8080", "10.0.0.1", "a_b.example", ""]
  ) {
    it(`takes the host ${JSON.stringify(host)} [HT16]`, () => {
      checkHost(makeRequest(host, "http://localhost/livez"));
    });
  }

  for (const host of ["x/metrics?", "a b", "a@b", "a#", "a,b", "x\\y", "[::zz", "a:99999"]) {
    it(`rejects the host ${JSON.stringify(host)} with 400 [HT16]`, () => {
      const error = assertThrows(() => checkHost(makeRequest(host)), ApiError) as ApiError;
      assertEquals(error.status, 400);
    });
  }
});
