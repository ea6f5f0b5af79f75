import type { Config } from "../config/config.ts";
import { countProcessors } from "../runtime/count_processors.ts";

/** One for each processor with `auto`; on the embedded Postgres there is never but one. */
export function countWorkers({ workers, databaseUrl }: Config): number {
  if (databaseUrl === undefined) return 1;
  return workers === "auto" ? countProcessors() : workers;
}
