import { createApp } from "../app.ts";
import { keepRetention } from "../audit/keep_retention.ts";
import { followDatabase } from "../catalogue/current.ts";
import { openDatabase } from "../database/client.ts";
import type { Database } from "../database/database.ts";
import type { Host } from "../runtime/host.ts";
import { createTokenStore } from "../tokens/store.ts";
import { printBanner } from "./banner.ts";
import { listen } from "./listen.ts";
import { prepareService } from "./prepare_service.ts";
import { showWork } from "./show_work.ts";
import { readSettings, type Settings } from "./read_settings.ts";
import { explainFailure, FAILED } from "./stop.ts";
import { type Watch, watchProcess } from "./watch_process.ts";

/** The database has so long to let go of what is left, also when ROWGATE_SHUTDOWN_MS is over. */
const MIN_CLOSE_MS = 500;

/**
 * Serves until a signal comes, and gives the exit code.
 * @throws {Stop} when it can not start, or waiting for the database turns out to be useless
 * @see DECISIONS 9
 */
export async function runServer(host: Host): Promise<number> {
  const signal = awaitSignal(host);
  const settings = await readSettings(host);
  const { config } = settings;
  const watch = watchProcess(host, config);
  let database: Database | undefined;
  let closeMs = 0;
  try {
    const open = () => openDatabase(config, watch.observe);
    const what = `Opening the embedded Postgres in ${config.dataDir}`;
    database = config.databaseUrl !== undefined
      ? await open()
      : await showWork(host.stderr, what, open);
    const endsAt = await serveUntil(signal, { host, settings, watch, database });
    closeMs = Math.max(MIN_CLOSE_MS, endsAt - performance.now());
    return 0;
  } catch (error) {
    throw explainFailure(error);
  } finally {
    await database?.close(closeMs);
  }
}

interface Parts {
  readonly host: Host;
  readonly settings: Settings;
  readonly watch: Watch;
  readonly database: Database;
}

/** Gives the time, of `performance.now()`, until which the process may live on. */
async function serveUntil(
  signal: Promise<string>,
  { host, settings: { config, policy }, watch: { metrics, observe }, database }: Parts,
): Promise<number> {
  const { schema, tenantColumn, shutdownMs } = config;
  const catalogue = followDatabase(database, { schema, tenantColumn, policy, observe });
  const tokens = createTokenStore(database, { observe });
  const app = createApp({ config, database, catalogue, tokens, observe, metrics });
  const { audit, auditDays: days } = config;
  const retention = audit && days !== undefined
    ? keepRetention(database, { days, observe })
    : undefined;
  let begin = () => {};
  const prepared = new Promise<void>((resolve) => begin = resolve);
  const served = await listen(app, { config, prepared });

  async function prepare(): Promise<never> {
    const options = { config, catalogue, observe, output: host.stderr };
    const { demonstration, coming } = await prepareService(database, options);
    if (stopping) return await never();
    begin();
    const { address } = served;
    observe({ kind: "listening", address });
    if (config.databaseUrl === undefined) {
      host.stderr.write(printBanner({ address, config, demonstration }));
    }
    await coming;
    return await never();
  }

  let stopMs = 0;
  let stopping = false;
  try {
    const told = await Promise.race([signal, prepare()]);
    stopping = true;
    observe({ kind: "stopping", signal: told });
    stopMs = shutdownMs;
    // Who waits for the start is answered by what there is.
    begin();
    return performance.now() + shutdownMs;
  } finally {
    await served.stop(stopMs);
    retention?.close();
    catalogue.close();
  }
}

function never(): Promise<never> {
  return new Promise(() => {});
}

/** Settles on the first signal; the second one ends the process at once. */
function awaitSignal(host: Host): Promise<string> {
  return new Promise((resolve) => {
    let told = false;
    host.onSignal((signal) => {
      if (told) void host.exit(FAILED);
      told = true;
      resolve(signal);
    });
  });
}
