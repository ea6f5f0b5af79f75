import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { ApiError } from "../../../src/basics/errors/api_error.ts";
import { makeEtag } from "../../../src/http/respond.ts";
import { encodeLong } from "../../../src/http/response_body.ts";
import { takeRequestId } from "../../../src/http/trace.ts";
import { type Exchange, respond, respondError, respondOptions } from "../../../src/http/respond.ts";
import { SENDING } from "../../support/sending.ts";

function exchange(headers: Record<string, string> = {}, method = "GET", origins: string[] = []) {
  const request = { headers: new Headers(headers), method } as Request;
  const options = { requestId: "id-1", corsOrigins: origins, headers: {}, sending: SENDING };
  return { request, ...options } satisfies Exchange;
}

const LONG = JSON.stringify({ text: "é".repeat(2000) });

describe("respond", () => {
  it("gives JSON that is neither sniffed nor stored, with the request's id [E46]", async () => {
    const response = respond({ status: 200, json: "{}" }, exchange());
    assertEquals(response.headers.get("content-type"), "application/json; charset=utf-8");
    assertEquals(response.headers.get("x-content-type-options"), "nosniff");
    assertEquals(response.headers.get("cache-control"), "no-store");
    assertEquals(response.headers.get("x-request-id"), "id-1");
    assertEquals(response.headers.get("vary"), null);
    assertEquals(await response.text(), "{}");
  });

  it("passes digits and own headers through [V14]", async () => {
    const json = '{"n":12345678901234567890.10}';
    const headers = { "preference-applied": "count=none" };
    const response = respond({ status: 200, json, headers }, exchange());
    assertEquals(response.headers.get("preference-applied"), "count=none");
    assertEquals(await response.text(), json);
  });

  it("sends no body on HEAD [H6]", async () => {
    const response = respond({ status: 200, json: LONG }, exchange({}, "HEAD"));
    assertEquals([response.status, await response.text()], [200, ""]);
    assertEquals(response.headers.get("content-type"), "application/json; charset=utf-8");
  });

  for (const accepted of ["gzip", "br, GZIP;q=0.5", "*", "x-gzip", "identity;q=0, *;q=0.1"]) {
    it(`compresses a long response for Accept-Encoding: ${accepted} [H5]`, async () => {
      const sent = exchange({ "accept-encoding": accepted });
      const response = respond({ status: 200, json: LONG }, sent);
      assertEquals(response.headers.get("content-encoding"), "gzip");
      assertEquals(response.headers.get("vary"), "Accept-Encoding");
      const plain = response.body!.pipeThrough(new DecompressionStream("gzip"));
      assertEquals(await new Response(plain).text(), LONG);
    });
  }

  for (const accepted of ["gzip;q=0", "gzip;q=0, *", "*;q=0", "br", "", "gzip;q=x"]) {
    it(`leaves it plain for Accept-Encoding: ${accepted || "nothing"} [H5]`, async () => {
      const sent = exchange({ "accept-encoding": accepted });
      const response = respond({ status: 200, json: LONG }, sent);
      assertEquals(response.headers.get("content-encoding"), null);
      assertEquals(response.headers.get("vary"), "Accept-Encoding");
      assertEquals(await response.text(), LONG);
    });
  }

  for (const [accepted, frees] of [["gzip", false], ["identity", true]] as const) {
    it(`${frees ? "frees" : "frees no"} slices of a long body as ${accepted} [RE33]`, async () => {
      let freed = 0;
      const free = () => ++freed > 0;
      const json = JSON.stringify("é".repeat(200_000));
      const response = respond({ status: 200, json, slices: await encodeLong(json) }, {
        ...exchange({ "accept-encoding": accepted }),
        free,
      });
      await response.arrayBuffer();
      assertEquals(freed > 0, frees);
    });
  }

  it("leaves a short response plain [H5]", () => {
    const response = respond({ status: 200, json: "{}" }, exchange({ "accept-encoding": "gzip" }));
    assertEquals(response.headers.get("content-encoding"), null);
  });

  it("responds with 304 to a client that holds the response [T46] [T51]", async () => {
    const etag = await makeEtag("{}");
    for (const held of [etag, etag.slice(2), `"x", ${etag}`, "*"]) {
      const sent = exchange({ "if-none-match": held });
      const response = respond({ status: 200, json: "{}", etag }, sent);
      assertEquals([response.status, await response.text()], [304, ""]);
      assertEquals(response.headers.get("etag"), etag);
      assertEquals(response.headers.get("x-request-id"), "id-1");
      assertEquals(response.headers.get("content-type"), null);
    }
  });

  it("responds in full when the client holds another state, to be kept privately [T46]", async () => {
    const etag = await makeEtag("{}");
    const sent = exchange({ "if-none-match": await makeEtag("[]") });
    const response = respond({ status: 200, json: "{}", etag }, sent);
    assertEquals([response.status, await response.text()], [200, "{}"]);
    assertEquals(response.headers.get("cache-control"), "private, no-cache");
    assertEquals(response.headers.get("vary"), "Authorization");
  });

  it("says no 304 where there is no ETag, nor to a POST [T46]", () => {
    const held = { "if-none-match": "*" };
    assertEquals(respond({ status: 200, json: "{}" }, exchange(held)).status, 200);
    const content = { status: 200, json: "{}", etag: 'W/"x"' };
    assertEquals(respond(content, exchange(held, "POST")).status, 200);
  });
});

describe("respondError", () => {
  it("gives the error body, its status and its headers [E1]", async () => {
    const error = new ApiError(405, "No such method", { headers: { "Allow": "POST" } });
    const response = respondError(error, exchange());
    assertEquals([response.status, response.headers.get("allow")], [405, "POST"]);
    assertEquals(await response.text(), '{"success":false,"error":"No such method"}');
  });

  it("has `matched` when it is set, 0 included [E3]", async () => {
    const response = respondError(new ApiError(404, "No row", { matched: 0 }), exchange());
    assertEquals(await response.json(), { success: false, error: "No row", matched: 0 });
  });

  for (const thrown of [new Error("secret"), "secret", undefined, null, Object.freeze({ a: 1 })]) {
    it(`says nothing of ${String(thrown)} [E45] [HT21]`, async () => {
      const response = respondError(thrown, exchange());
      assertEquals([response.status, response.headers.get("x-request-id")], [500, "id-1"]);
      assertEquals(await response.text(), '{"success":false,"error":"Internal error"}');
    });
  }
});

describe("CORS", () => {
  const origins = ["https://app.example"];
  const asked = {
    "origin": "https://app.example",
    "access-control-request-method": "PATCH",
    "access-control-request-headers": "authorization",
  };

  it("is off unless origins are named [H8]", () => {
    const response = respond({ status: 200, json: "{}" }, exchange(asked));
    assertEquals(response.headers.get("access-control-allow-origin"), null);
    assertEquals(response.headers.get("vary"), null);
  });

  it("lets a named origin read responses and rejections, no other one [H9]", () => {
    const rejected = respondError(new ApiError(404, "x"), exchange(asked, "GET", origins));
    assertEquals(rejected.headers.get("access-control-allow-origin"), "https://app.example");
    assertEquals(rejected.headers.get("access-control-expose-headers")!.includes("ETag"), true);
    const other = exchange({ origin: "https://app.example.evil" }, "GET", origins);
    const response = respond({ status: 200, json: LONG }, other);
    assertEquals(response.headers.get("access-control-allow-origin"), null);
    assertEquals(response.headers.get("vary"), "Origin, Accept-Encoding");
  });

  it("responds to a preflight [H10]", async () => {
    const response = respondOptions(["PATCH", "OPTIONS"], exchange(asked, "OPTIONS", origins));
    assertEquals([response.status, await response.text()], [204, ""]);
    assertEquals(response.headers.get("allow"), "PATCH, OPTIONS");
    assertEquals(response.headers.get("access-control-allow-methods"), "PATCH, OPTIONS");
    const allowed = response.headers.get("access-control-allow-headers")!.split(", ");
    for (
      const name of ["Authorization", "Content-Type", "Prefer", "If-None-Match", "X-Request-Id"]
    ) {
      assertEquals(allowed.includes(name), true);
    }
  });

  it("responds to OPTIONS without leave when no origin is named [H7] [H8]", () => {
    const response = respondOptions(["GET", "HEAD", "OPTIONS"], exchange(asked, "OPTIONS"));
    assertEquals([response.status, response.headers.get("allow")], [204, "GET, HEAD, OPTIONS"]);
    assertEquals(response.headers.get("access-control-allow-methods"), null);
  });
});

describe("takeRequestId", () => {
  function take(id?: string): string {
    const headers = new Headers(id === undefined ? {} : { "x-request-id": id });
    return takeRequestId({ headers } as Request);
  }

  it("keeps a well-formed id of the client [E47]", () => {
    for (const id of ["a", "0b1f-2.c_~", "x".repeat(128)]) assertEquals(take(id), id);
  });

  it("makes one in the place of a missing or malformed one [E47]", () => {
    for (const id of [undefined, "", "a b", "a;b", '"', "é", "x".repeat(129)]) {
      assertEquals(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(take(id)), true);
    }
    assertEquals(take() === take(), false);
  });
});
