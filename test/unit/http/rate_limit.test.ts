import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { openRateLimits, type Standing } from "../../../src/http/rate_limit.ts";
import { networkOf } from "../../../src/http/rate_limit.ts";

/** Limits of two requests in a minute, with a clock that the test moves. */
function open() {
  const clock = { ms: 0 };
  const limits = openRateLimits({ requests: 2, windowSeconds: 60 }, { now: () => clock.ms });
  // Without leases nothing has to be awaited.
  const countRequest = limits.countRequest as (tokenId: string) => Standing;
  return { clock, ...limits, countRequest };
}

describe("openRateLimits", () => {
  it("gives the state of a token's limit, in the form of the IETF draft [H11]", () => {
    const { countRequest } = open();
    assertEquals(countRequest("a"), {
      headers: { "RateLimit-Policy": '"default";q=2;w=60', "RateLimit": '"default";r=1;t=30' },
      rejection: undefined,
    });
  });

  it("rejects with 429 and Retry-After until the end of the window [H11]", () => {
    const { countRequest, clock } = open();
    countRequest("a");
    countRequest("a");
    clock.ms += 500;
    const { headers, rejection } = countRequest("a");
    assertEquals(headers["RateLimit"], '"default";r=0;t=30');
    assertEquals(rejection?.status, 429);
    assertEquals(rejection?.headers, { "Retry-After": "30" });
    assertEquals(
      rejection?.message,
      "The rate limit of this token is reached, expected at most 2 requests in 60 s, try again in 30 s",
    );
    clock.ms += 30_000;
    assertEquals(countRequest("a").rejection, undefined);
  });

  it("counts each token separately [H11]", () => {
    const { countRequest } = open();
    for (let request = 0; request < 5; request++) countRequest("a");
    assertEquals(countRequest("b").rejection, undefined);
  });

  it("limits invalid tokens by peer, and a peer's IPv6 network as one [H12]", () => {
    const { countInvalidToken } = open();
    assertEquals(countInvalidToken("2001:db8::1"), undefined);
    assertEquals(countInvalidToken("2001:db8::2"), undefined);
    assertEquals(countInvalidToken("2001:db8::3")?.status, 429);
    assertEquals(countInvalidToken("2001:db8::3")?.headers, { "Retry-After": "30" });
    assertEquals(countInvalidToken("192.0.2.1"), undefined);
  });

  it("does not limit an unknown peer", () => {
    const { countInvalidToken } = open();
    const rejections = Array.from({ length: 9 }, () => countInvalidToken(undefined));
    assertEquals(rejections.filter((rejection) => rejection !== undefined), []);
  });
});

describe("networkOf", () => {
  for (
    const [address, network] of [
      ["192.0.2.7", "192.0.2.7"],
      ["::ffff:192.0.2.7", "192.0.2.7"],
      ["::FFFF:192.0.2.7", "192.0.2.7"],
      ["::1", "0:0:0:0::/64"],
      ["2001:db8::1", "2001:db8:0:0::/64"],
      ["2001:DB8:0000:0000:ffff::9", "2001:db8:0:0::/64"],
      ["2001:db8:0:1::", "2001:db8:0:1::/64"],
      ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
      ["fe80::1%eth0", "fe80:0:0:0::/64"],
      ["", ""],
    ] as const
  ) {
    it(`puts ${JSON.stringify(address)} into ${network}`, () => {
      assertEquals(networkOf(address), network);
    });
  }
});
