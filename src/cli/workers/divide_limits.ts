import type { Config } from "../../server/config/config.ts";
import { countProcessors } from "../../server/runtime/workers.ts";
import type { SupervisorLink } from "../../server/runtime/workers.ts";

/** Returns the number of processes that serve; the embedded Postgres allows only one. */
export function countWorkers({ workers, databaseUrl }: Config): number {
  if (databaseUrl === undefined) return 1;
  return workers === "auto" ? countProcessors() : workers;
}

/**
 * Returns the share of a worker in the limits that the operator has set for the whole service. The
 * shares add up to the whole; each is at least 1, even if there are more workers than that. Only of
 * the connections that are kept without requests, some workers may keep none.
 * @see docs/decisions/0036-workers.md
 */
export function divideLimits(
  config: Config,
  { worker, workers }: Pick<SupervisorLink, "worker" | "workers">,
): Config {
  const split = (whole: number) =>
    Math.floor(whole / workers) + (worker <= whole % workers ? 1 : 0);
  const share = (whole: number) => Math.max(1, split(whole));
  const { poolSize, poolIdleSize, transactions, tokenLookUps, rateLimit, rateLimitScope } = config;
  const { exports, exportsPerTenant, maxInFlight, maxBodiesBytes, maxUnsentBytes } = config;
  return {
    ...config,
    poolSize: share(poolSize),
    poolIdleSize: poolIdleSize && split(poolIdleSize),
    transactions: share(transactions),
    tokenLookUps: share(tokenLookUps),
    exports: share(exports),
    exportsPerTenant: exportsPerTenant && share(exportsPerTenant),
    maxInFlight: share(maxInFlight),
    maxBodiesBytes: share(maxBodiesBytes),
    maxUnsentBytes: share(maxUnsentBytes),
    // A limit of all instances is also one limit for all workers.
    rateLimit: rateLimitScope === "process" && rateLimit !== undefined
      ? { ...rateLimit, requests: share(rateLimit.requests) }
      : rateLimit,
  };
}
