import { assertEquals, assertRejects } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { ApiError } from "../../../src/basics/errors/api_error.ts";
import { openHealth } from "../../../src/http/health.ts";

function open(database: object, now?: () => number) {
  const dependencies = { config: { poolWaitMs: 20 }, database, catalogue: { current: () => ({}) } };
  return openHealth(dependencies as unknown as Parameters<typeof openHealth>[0], now);
}

describe("openHealth", () => {
  it("asks the database once for all probes of a second, once at a time while it does not respond [RE30]", async () => {
    let [asked, nowMs, unavailable] = [0, 0, false];
    const database = {
      run() {
        asked++;
        return unavailable ? Promise.reject(new Error("unavailable")) : Promise.resolve([]);
      },
    };
    const check = open(database, () => nowMs);
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

  it("does not wait for a database that does not answer, and is ready once it does [H14]", async () => {
    const answers: (() => void)[] = [];
    const check = open({ run: () => new Promise<void>((resolve) => answers.push(resolve)) });
    for (let probe = 0; probe < 2; probe++) {
      const error = await assertRejects(() => check("/readyz"), ApiError);
      assertEquals([error.status, error.message], [
        503,
        "The database has not answered within 20 ms",
      ]);
    }
    const waiting = check("/readyz");
    assertEquals(answers.length, 1);
    answers[0]!();
    assertEquals(await waiting, '{"success":true}');
  });
});
