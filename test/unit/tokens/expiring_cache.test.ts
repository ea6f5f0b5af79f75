import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { openExpiringCache } from "../../../src/access/tokens/expiring_cache.ts";

describe("openExpiringCache", () => {
  it("forgets the oldest when there are too many, so that a flood fills nothing [AU14]", () => {
    const responses = openExpiringCache<number>({ size: 3, now: () => 0 });
    for (let key = 0; key < 5; key++) responses.set(String(key), key, 10);
    assertEquals([0, 1, 2, 3, 4].map((key) => responses.get(String(key))), [
      undefined,
      undefined,
      2,
      3,
      4,
    ]);
  });

  it("gives a response until its time, not at it [A8]", () => {
    let now = 0;
    const responses = openExpiringCache<string>({ size: 3, now: () => now });
    responses.set("a", "yes", 10);
    now = 9.9;
    assertEquals(responses.get("a"), "yes");
    now = 10;
    assertEquals(responses.get("a"), undefined);
  });
});
