import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { divideLimits } from "../../../../src/cli/workers/divide_limits.ts";
import { readConfig } from "../../../../src/server/config/config.ts";

describe("the limits of a service with several workers", () => {
  const divide = (environment: Record<string, string>, workers: number) =>
    Array.from({ length: workers }, (_, index) => {
      const { config } = readConfig(environment);
      return divideLimits(config!, { worker: index + 1, workers });
    });

  it("are the sum of the shares of its workers", () => {
    const environment = {
      ROWGATE_POOL_SIZE: "10",
      ROWGATE_POOL_IDLE_SIZE: "2",
      ROWGATE_TOKEN_LOOKUPS: "4",
      ROWGATE_MAX_IN_FLIGHT: "1000",
      ROWGATE_MAX_BODIES_BYTES: "3000000",
      ROWGATE_MAX_UNSENT_BYTES: "6000000",
      ROWGATE_RATE_LIMIT: "600/min",
    };
    const shares = divide(environment, 3);
    assertEquals(shares.map(({ poolSize }) => poolSize), [4, 3, 3]);
    assertEquals(shares.map(({ poolIdleSize }) => poolIdleSize), [1, 1, 0]);
    assertEquals(shares.map(({ tokenLookUps }) => tokenLookUps), [2, 1, 1]);
    assertEquals(shares.map(({ maxInFlight }) => maxInFlight), [334, 333, 333]);
    assertEquals(shares.map(({ maxUnsentBytes }) => maxUnsentBytes), Array(3).fill(2_000_000));
    assertEquals(shares.map(({ maxBodiesBytes }) => maxBodiesBytes), Array(3).fill(1_000_000));
    const limit = { requests: 200, windowSeconds: 60 };
    assertEquals(shares.map(({ rateLimit }) => rateLimit), [limit, limit, limit]);
  });

  it("do not divide a rate limit that all instances share [M21]", () => {
    const environment = {
      ROWGATE_RATE_LIMIT: "600/min",
      ROWGATE_RATE_LIMIT_SCOPE: "instances",
    };
    const limit = { requests: 600, windowSeconds: 60 };
    assertEquals(divide(environment, 3).map(({ rateLimit }) => rateLimit), [limit, limit, limit]);
  });

  it("leave each worker at least one, and no rate limit where there is none", () => {
    const shares = divide({ ROWGATE_POOL_SIZE: "1" }, 2);
    assertEquals(shares.map(({ poolSize, rateLimit }) => [poolSize, rateLimit]), [
      [1, undefined],
      [1, undefined],
    ]);
  });
});
