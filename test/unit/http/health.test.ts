import { assertEquals, assertRejects } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { openHealth } from "../../../src/http/health.ts";

describe("openHealth", () => {
  it("asks the database once for all probes of a second, once at a time while it does not respond [RE30]", async () => {
    let [asked, nowMs, unavailable] = [0, 0, false];
    const database = {
      run() {
        asked++;
        return unavailable ? Promise.reject(new Error("unavailable")) : Promise.resolve([]);
      },
    };
    const dependencies = { database, catalogue: { current: () => ({}) } };
    const check = openHealth(
      dependencies as unknown as Parameters<typeof openHealth>[0],
      () => nowMs,
    );
    const probe = () => Promise.all(Array.from({ length: 500 }, () => check("/readyz")));
    await probe();
    nowMs = 999;
    await probe();
    assertEquals(asked, 1);
    nowMs = 1000;
    unavailable = true;
    await assertRejects(probe);
    assertEquals(asked, 2);
    unavailable = false;
    await probe();
    await check("/livez");
    assertEquals(asked, 3);
  });
});
