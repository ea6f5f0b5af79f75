import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { openBuckets } from "../../../src/http/buckets.ts";

/** Buckets with a clock that the test moves. */
function open(options: { capacity: number; windowSeconds: number; size?: number }) {
  const clock = { ms: 1_000_000 };
  const buckets = openBuckets({ size: 1000, ...options, now: () => clock.ms });
  /** How many of so many attempts at once are granted. */
  const burst = (key: string, attempts: number) =>
    Array.from({ length: attempts }, () => buckets.draw(key)).filter(({ granted }) => granted)
      .length;
  return { clock, buckets, burst };
}

describe("openBuckets", () => {
  it("grants a full bucket at once and no more [H11]", () => {
    const { burst } = open({ capacity: 10, windowSeconds: 60 });
    assertEquals(burst("a", 25), 10);
  });

  it("gives what is left and when there is one more [H11]", () => {
    const { clock, buckets } = open({ capacity: 3, windowSeconds: 60 });
    assertEquals(buckets.draw("a"), { granted: true, remaining: 2, nextSeconds: 20 });
    clock.ms += 5000;
    assertEquals(buckets.draw("a"), { granted: true, remaining: 1, nextSeconds: 15 });
    assertEquals(buckets.draw("a"), { granted: true, remaining: 0, nextSeconds: 15 });
    assertEquals(buckets.draw("a"), { granted: false, remaining: 0, nextSeconds: 15 });
  });

  it("is right about when there is one more, at any rate [H11]", () => {
    for (const capacity of [1, 3, 7, 11, 59, 600, 999_999]) {
      for (const windowSeconds of [1, 60, 3600]) {
        const { clock, buckets, burst } = open({ capacity, windowSeconds });
        burst("a", Math.min(capacity, 1000) + 1);
        for (let round = 0; round < 50; round++) {
          const { nextSeconds } = buckets.draw("a");
          clock.ms += nextSeconds * 1000;
          const { granted } = buckets.draw("a");
          assertEquals(granted, true, `${capacity} in ${windowSeconds} s, round ${round}`);
        }
      }
    }
  });

  it("runs in steadily and never above full [H11]", () => {
    const { clock, burst } = open({ capacity: 10, windowSeconds: 1 });
    burst("a", 10);
    clock.ms += 300;
    assertEquals(burst("a", 10), 3);
    clock.ms += 3_600_000;
    assertEquals(burst("a", 50), 10);
  });

  it("grants no more than a window's worth beside the burst, however the attempts lie [H11]", () => {
    const { clock, burst } = open({ capacity: 7, windowSeconds: 60 });
    let granted = 0;
    for (let at = 0; at < 60_000; at += 37) {
      granted += burst("a", 3);
      clock.ms += 37;
    }
    assertEquals(granted, 13);
  });

  it("takes nothing for an attempt that it does not grant: no lock-out [H11]", () => {
    const { clock, burst } = open({ capacity: 1, windowSeconds: 1 });
    burst("a", 1);
    for (let attempt = 0; attempt < 999; attempt++) {
      clock.ms += 1;
      assertEquals(burst("a", 1), 0);
    }
    clock.ms += 1;
    assertEquals(burst("a", 1), 1);
  });

  it("keeps keys apart, names of Object's own included [H11]", () => {
    const { burst } = open({ capacity: 2, windowSeconds: 60 });
    assertEquals(["a", "__proto__", "constructor"].map((key) => burst(key, 5)), [2, 2, 2]);
  });

  it("gives nothing for a clock that goes back", () => {
    const { clock, burst } = open({ capacity: 2, windowSeconds: 1 });
    burst("a", 2);
    clock.ms -= 500_000;
    assertEquals(burst("a", 2), 0);
    clock.ms += 1000;
    assertEquals(burst("a", 5), 2);
  });

  it("remembers so many keys and forgets the one used longest ago [AU14]", () => {
    const { burst } = open({ capacity: 1, windowSeconds: 3600, size: 2 });
    assertEquals(["a", "b", "a", "c", "a"].map((key) => burst(key, 1)), [1, 1, 0, 1, 0]);
    // The third key pushed out b, which is full again.
    assertEquals(burst("b", 1), 1);
  });
});
