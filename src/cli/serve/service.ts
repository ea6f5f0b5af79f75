import { type App, createApp } from "../../app.ts";
import { keepRetention } from "../../access/audit/retention.ts";
import { openChanges } from "../../feeds/changes/changes.ts";
import { keepChanges } from "../../feeds/changes/retention.ts";
import { CatalogueConflictError } from "../../catalogue/catalogue_conflict_error.ts";
import type { CurrentCatalogue } from "../../catalogue/current_catalogue.ts";
import { openConfiguredDatabase } from "../../database/embedded/embedded_postgres.ts";
import type { Database } from "../../database/postgres/database.ts";
import type { Output } from "../../server/runtime/host.ts";
import { openConfiguredRateLimits } from "../../http/rate_limit.ts";
import { openReplicas } from "../../database/replicas/replicas.ts";
import { openSnapshotStandbys } from "../../database/replicas/snapshot_standbys.ts";
import { keepAnswersPruned } from "../../database/schema/prune_answers.ts";
import { createTokenStore } from "../../access/tokens/store.ts";
import { openWebhookService } from "../../feeds/webhooks/webhook_service.ts";
import { showWork } from "../progress.ts";
import type { Settings } from "../read_settings.ts";
import { followSettings } from "../with_database.ts";
import { type AwaitOptions, prepareOrAwaitDatabase } from "./await_database.ts";
import { announceFirstStart, type Demonstration, prepareDemonstration } from "./first_start.ts";
import type { Telemetry } from "./observe_process.ts";

/** The sinks of what happens in the service, and where its progress is shown. */
export interface AssembleOptions extends Telemetry {
  readonly output: Output;
}

/** A service without a server. */
export interface AssembledService {
  readonly app: App;
  /** Prepares the database for serving; requests should wait until then. */
  readonly prepare: () => Promise<Prepared>;
  /** Makes `/readyz` 503 and keeps no connection after its response, for the time before the end. */
  readonly announceEnd: () => void;
  /** Ends requests and streams that only wait, so that none holds up the end. */
  readonly drain: () => void;
  /** Closes the database; running statements have this long to end. */
  readonly close: (timeoutMs: number) => Promise<void>;
}

/** How the start went. */
export interface Prepared {
  /** What the first start on the embedded Postgres has made. */
  readonly demonstration: Demonstration | undefined;
  /**
   * Settles once the database is available and prepared; rejects when waiting for it is useless.
   * Until then requests are answered with 503.
   */
  readonly databaseReady: Promise<void>;
}

/** Shorter than the time between the age at which the catalogue is renewed and its maximum age. */
const RENEWAL_INTERVAL_MS = 15_000;

/**
 * Opens the database of the settings and assembles the fetch handler that answers from it.
 * @throws {Error} when DATABASE_URL cannot be read, or the data directory is in use
 * @see R1, R2
 */
export async function assembleService(
  { config, policy }: Settings,
  { metrics, observe, output }: AssembleOptions,
): Promise<AssembledService> {
  const open = () => openConfiguredDatabase(config, observe);
  if (config.databaseUrl === undefined) await announceFirstStart(config, output);
  const database = config.databaseUrl !== undefined
    ? await open()
    : await showWork(output, `Opening the embedded Postgres in ${config.dataDir}`, open);
  const catalogue = followSettings({ config, policy, database, observe });
  const tokens = createTokenStore(database, { ...config, observe });
  const { audit, auditDays: days, changesDays, tenantSetting } = config;
  const { confirm: confirmed } = tokens;
  const replicas = openReplicas(config, { database, observe });
  const standbys = replicas && openSnapshotStandbys(replicas);
  const changes = openChanges(database, {
    observe,
    tenantSetting,
    standbys,
    ...(confirmed && { confirmed }),
  });
  const parts = { config, database, catalogue: catalogue.current, changes, observe };
  const hooks = openWebhookService(parts);
  const { webhooks } = hooks;
  const rateLimits = openConfiguredRateLimits(config, { database, observe });
  const stopping = new AbortController();
  const app = createApp({
    ...{ config, database, catalogue, tokens, observe, metrics, changes, webhooks },
    replicas,
    rateLimits,
    stopping: stopping.signal,
  });
  const log = keepChanges(database, { days: changesDays, observe });
  const retention = audit && days !== undefined
    ? keepRetention(database, { days, observe })
    : undefined;
  const answers = keepAnswersPruned(database, { hours: config.idempotencyHours, observe });
  const renewing = setInterval(catalogue.renew, RENEWAL_INTERVAL_MS);
  const closing = new AbortController();

  async function close(timeoutMs: number): Promise<void> {
    closing.abort();
    clearInterval(renewing);
    retention?.close();
    log.close();
    answers.close();
    changes.close();
    const endMs = performance.now() + timeoutMs;
    await Promise.all([hooks.close(timeoutMs), rateLimits?.close()]);
    catalogue.close();
    const restMs = Math.max(0, endMs - performance.now());
    await Promise.all([replicas?.close(restMs), database.close(restMs)]);
  }

  async function prepare(): Promise<Prepared> {
    const signals = { closing: closing.signal, stopping: stopping.signal };
    const options = { config, observe, output, ...signals };
    const prepared = await prepareService(database, { ...options, catalogue });
    // A rejection ends the start; it is the caller's.
    prepared.databaseReady.then(hooks.start, () => {});
    return prepared;
  }

  return { app, prepare, announceEnd: () => stopping.abort(), drain: changes.close, close };
}

interface PrepareOptions extends AwaitOptions {
  readonly catalogue: CurrentCatalogue;
  /** Aborted at the first signal to end. */
  readonly stopping: AbortSignal;
}

/**
 * Makes the schema `rowgate`, fills the demonstration and reads the catalogue. A database that is
 * unavailable is no error: the server answers 503 until it is available.
 * @throws {Stop} when waiting is useless
 * @see R33, R35
 */
async function prepareService(
  database: Database,
  { catalogue, ...options }: PrepareOptions,
): Promise<Prepared> {
  const waiting = await prepareOrAwaitDatabase(database, options);
  if (waiting !== undefined) {
    const databaseReady = waiting.databaseReady.then(() => loadCatalogue(catalogue));
    // The caller awaits it later; until then a rejection must not count as unhandled.
    databaseReady.catch(() => {});
    return { demonstration: undefined, databaseReady };
  }
  const demonstration = options.config.databaseUrl === undefined
    ? await prepareDemonstration(database, options)
    : undefined;
  await loadCatalogue(catalogue);
  return { demonstration, databaseReady: Promise.resolve() };
}

/**
 * Reads the catalogue. A failure is observed; `/readyz` reports it and the server tries again.
 * @throws {CatalogueConflictError} when no reading would help
 */
async function loadCatalogue(catalogue: CurrentCatalogue): Promise<void> {
  try {
    await catalogue.current();
  } catch (error) {
    if (error instanceof CatalogueConflictError) throw error;
  }
}
