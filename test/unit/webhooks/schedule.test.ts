import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { MAX_ATTEMPTS, planRetry, readRetryAfter } from "../../../src/feeds/webhooks/schedule.ts";

const plan = (attempts: number, retryAfter?: number, random = 0) =>
  planRetry({ attempts, retryAfter, random });

describe("the schedule of attempts", () => {
  it("is that of Standard Webhooks, and ends after ten attempts [WH14]", () => {
    const delays = Array.from({ length: MAX_ATTEMPTS }, (_, place) => plan(place + 1));
    const [minute, hour] = [60, 3600];
    assertEquals(delays, [
      5,
      5 * minute,
      30 * minute,
      2 * hour,
      5 * hour,
      10 * hour,
      14 * hour,
      20 * hour,
      24 * hour,
      undefined,
    ]);
  });

  it("makes each delay longer by up to a fifth, so that receivers are not met at once [WH14]", () => {
    assertEquals(plan(2, undefined, 0.5), 330);
    assertEquals(plan(2, undefined, 1), 360);
  });

  it("waits for Retry-After if that is longer, a day at most [WH15]", () => {
    assertEquals(plan(1, 120), 120);
    assertEquals(plan(2, 1), 300);
    assertEquals(plan(1, 86_401), 86_400);
    assertEquals(plan(10, 120), undefined);
  });
});

describe("readRetryAfter", () => {
  const nowMs = Date.parse("2026-11-24T12:00:00Z");

  it("reads seconds and dates [WH15]", () => {
    assertEquals(readRetryAfter("120", nowMs), 120);
    assertEquals(readRetryAfter("Tue, 24 Nov 2026 12:01:00 GMT", nowMs), 60);
  });

  it("ignores what is neither, and a time in the past [WH15]", () => {
    for (const header of [null, "", "soon", "-5", "1e9", "99999999999", "2020-01-01T00:00:00Z"]) {
      assertEquals(readRetryAfter(header, nowMs), undefined, String(header));
    }
  });
});
