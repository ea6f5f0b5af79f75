import type { CurrentCatalogue } from "../catalogue/current_catalogue.ts";
import type { Config } from "../config/config.ts";
import type { Database } from "../postgres/database.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import type { Observe } from "../telemetry/observe.ts";
import type { TokenStore } from "../tokens/token.ts";

/** All that the handler needs; the runtimes and the tests make them. */
export interface Dependencies {
  readonly config: Config;
  readonly database: Database;
  readonly catalogue: CurrentCatalogue;
  readonly tokens: TokenStore;
  /** Hears what happens; the metrics' own sink is a part of it. */
  readonly observe: Observe;
  readonly metrics: Metrics;
}
