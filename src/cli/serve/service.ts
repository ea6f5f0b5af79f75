import { type App, createApp } from "../../app.ts";
import { keepRetention } from "../../audit/retention.ts";
import { openConfiguredDatabase } from "../../embedded/embedded_postgres.ts";
import type { Output } from "../../runtime/host.ts";
import { createTokenStore } from "../../tokens/store.ts";
import type { Settings } from "../read_settings.ts";
import { showWork } from "../progress.ts";
import type { Watch } from "./observe_process.ts";
import { followSettings } from "../with_database.ts";
import type { CurrentCatalogue } from "../../catalogue/current_catalogue.ts";
import type { Config } from "../../config/config.ts";
import type { Database } from "../../postgres/database.ts";
import type { Observe } from "../../telemetry/observe.ts";
import { awaitDatabase } from "./await_database.ts";
import { type Demonstration, prepareDemonstration } from "./first_start.ts";

/** Who hears of a service. */
export interface AssembleOptions extends Watch {
  /** Where progress is shown. */
  readonly output: Output;
}

/** A service without a server. */
export interface Service {
  readonly app: App;
  /** Makes the database what serving needs; before that requests are better kept waiting. */
  readonly prepare: () => Promise<Prepared>;
  /** Lets go of the database, which has so long for what still runs. */
  readonly close: (timeoutMs: number) => Promise<void>;
}

/**
 * Opens the database of the settings and puts the fetch handler together that answers from it.
 * @throws {Error} when DATABASE_URL can not be read, or the data directory is in use
 * @see R1, R2
 */
export async function assembleService(
  { config, policy }: Settings,
  { metrics, observe, output }: AssembleOptions,
): Promise<Service> {
  const open = () => openConfiguredDatabase(config, observe);
  const what = `Opening the embedded Postgres in ${config.dataDir}`;
  const database = config.databaseUrl !== undefined
    ? await open()
    : await showWork(output, what, open);
  const { audit, auditDays: days } = config;
  const catalogue = followSettings({ config, policy, database, observe });
  const tokens = createTokenStore(database, { observe });
  const app = createApp({ config, database, catalogue, tokens, observe, metrics });
  const retention = audit && days !== undefined
    ? keepRetention(database, { days, observe })
    : undefined;

  async function close(timeoutMs: number): Promise<void> {
    retention?.close();
    catalogue.close();
    await database.close(timeoutMs);
  }

  const prepare = () => prepareService(database, { config, catalogue, observe, output });
  return { app, prepare, close };
}

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
