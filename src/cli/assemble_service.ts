import { type App, createApp } from "../app.ts";
import { keepRetention } from "../audit/keep_retention.ts";
import { openDatabase } from "../postgres/open_database.ts";
import type { Output } from "../runtime/host.ts";
import { createTokenStore } from "../tokens/store.ts";
import { type Prepared, prepareService } from "./prepare_service.ts";
import type { Settings } from "./read_settings.ts";
import { showWork } from "./show_work.ts";
import type { Watch } from "./watch_process.ts";
import { followSettings } from "./with_catalogue.ts";

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
  const open = () => openDatabase(config, observe);
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
