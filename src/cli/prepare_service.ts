import type { CurrentCatalogue } from "../catalogue/current.ts";
import type { Config } from "../config/config.ts";
import type { Database } from "../postgres/database.ts";
import type { Observe } from "../telemetry/observe.ts";
import type { Output } from "../runtime/host.ts";
import { awaitDatabase } from "./await_database.ts";
import { type Demonstration, prepareDemonstration } from "./demonstration.ts";

/** What is prepared, and who hears of it. */
export interface PrepareOptions {
  readonly config: Config;
  readonly catalogue: CurrentCatalogue;
  readonly observe: Observe;
  /** Where progress is shown. */
  readonly output: Output;
}

/** How the start went. */
export interface Prepared {
  /** What the first start on the embedded Postgres has made. */
  readonly demonstration: Demonstration | undefined;
  /** Settles once a database that is away came; rejects when waiting for it turns out to be useless. */
  readonly coming: Promise<void>;
}

/**
 * Makes the database what serving needs: the schema, the demonstration, the catalogue in force. A
 * database that is away is no error: the server answers 503 until it came.
 * @throws {Stop} when waiting is useless
 * @see R33, R35
 */
export async function prepareService(
  database: Database,
  { config, catalogue, observe, output }: PrepareOptions,
): Promise<Prepared> {
  const waiting = await awaitDatabase(database, { config, observe, output });
  if (waiting !== undefined) return { demonstration: undefined, coming: waiting.coming };
  const demonstration = config.databaseUrl === undefined
    ? await prepareDemonstration(database, output)
    : undefined;
  // What is wrong with it is observed; the server says so in /readyz and tries again.
  await Promise.resolve(catalogue.current()).catch(() => {});
  return { demonstration, coming: Promise.resolve() };
}
