import type { Config } from "../../config/config.ts";
import type { SupervisorLink } from "../../runtime/supervisor_link.ts";
import { countProcessors } from "../../runtime/count_processors.ts";

/**
 * Gives a worker its part of what the operator has set for the whole service; the parts make up the
 * whole where it is as large as the number of workers.
 * @see docs/decisions/0170-workers.md
 */
export function divideLimits(
  config: Config,
  { worker, workers }: Pick<SupervisorLink, "worker" | "workers">,
): Config {
  const part = (whole: number) =>
    Math.max(1, Math.floor(whole / workers) + (worker <= whole % workers ? 1 : 0));
  const { poolSize, transactions, maxInFlight, maxBodiesBytes, maxUnsentBytes, rateLimit } = config;
  return {
    ...config,
    poolSize: part(poolSize),
    transactions: part(transactions),
    maxInFlight: part(maxInFlight),
    maxBodiesBytes: part(maxBodiesBytes),
    maxUnsentBytes: part(maxUnsentBytes),
    rateLimit: rateLimit && { ...rateLimit, requests: part(rateLimit.requests) },
  };
}

/** One for each processor with `auto`; on the embedded Postgres there is never but one. */
export function countWorkers({ workers, databaseUrl }: Config): number {
  if (databaseUrl === undefined) return 1;
  return workers === "auto" ? countProcessors() : workers;
}
