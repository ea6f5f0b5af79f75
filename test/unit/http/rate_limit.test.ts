import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { openRateLimits } from "../../../src/http/rate_limit.ts";

/** Limits of two requests in a minute, with a clock that the test moves. */
function open() {
  const clock = { ms: 0 };
  const limits = openRateLimits({ requests: 2, windowSeconds: 60 }, { now: () => clock.ms });
  return { clock, ...limits };
}

describe("openRateLimits", () => {
  it("tells a token where it stands, in the form of the IETF draft [H11]", () => {
    const { countRequest } = open();
    assertEquals(countRequest("a"), {
      headers: { "RateLimit-Policy": '"default";q=2;w=60', "RateLimit": '"default";r=1;t=30' },
      refusal: undefined,
    });
  });

  it("refuses with 429 and Retry-After, not before the end of the window told [H11]", () => {
    const { countRequest, clock } = open();
    countRequest("a");
    countRequest("a");
    clock.ms += 500;
    const { headers, refusal } = countRequest("a");
    assertEquals(headers["RateLimit"], '"default";r=0;t=30');
    assertEquals(refusal?.status, 429);
    assertEquals(refusal?.headers, { "Retry-After": "30" });
    assertEquals(
      refusal?.message,
      "The rate limit of this token is reached, expected at most 2 requests in 60 s, try again in 30 s",
    );
    clock.ms += 30_000;
    assertEquals(countRequest("a").refusal, undefined);
  });

  it("counts each token for itself [H11]", () => {
    const { countRequest } = open();
    for (let request = 0; request < 5; request++) countRequest("a");
    assertEquals(countRequest("b").refusal, undefined);
  });

  it("limits refused tokens by peer, and a peer's IPv6 network as one [H12]", () => {
    const { countRefusal } = open();
    assertEquals(countRefusal("2001:db8::1"), undefined);
    assertEquals(countRefusal("2001:db8::2"), undefined);
    assertEquals(countRefusal("2001:db8::3")?.status, 429);
    assertEquals(countRefusal("2001:db8::3")?.headers, { "Retry-After": "30" });
    assertEquals(countRefusal("192.0.2.1"), undefined);
  });

  it("does not limit a peer that nobody knows", () => {
    const { countRefusal } = open();
    const refusals = Array.from({ length: 9 }, () => countRefusal(undefined));
    assertEquals(refusals.filter((refusal) => refusal !== undefined), []);
  });
});
