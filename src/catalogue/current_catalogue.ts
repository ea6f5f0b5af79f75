import { ApiError } from "../basics/errors/api_error.ts";
import type { Database } from "../database/postgres/database.ts";
import type { Catalogue, Table } from "./catalogue.ts";
import { NOT_LOADED } from "./catalogue_conflict_error.ts";
import { createCatalogueLoader, type LoadOptions } from "./catalogue_loader.ts";
import { rememberFruitless } from "./fruitless_readings.ts";

/** The current catalogue, which follows the database. @see T42 */
export interface CurrentCatalogue {
  /**
   * Returns the current catalogue, at once if it is recent enough; loads it if there is none yet.
   * Rejects with a `DatabaseError`.
   */
  readonly current: () => Catalogue | Promise<Catalogue>;
  /**
   * Reads the database again, once at a time; true if the current catalogue is then another than the
   * caller's.
   */
  readonly refresh: (seen: Catalogue, why: Refresh) => Promise<boolean>;
  /**
   * Reads the database again in the background, if the catalogue is half a minute old and was used in
   * the last quarter of an hour. So the first request after a quiet time need not wait for a reading.
   * @see T56
   */
  readonly renew: () => void;
  /**
   * Marks a table as not updatable, as an update has shown, until its description changes. Clients
   * see it with the next reading, at most a second later.
   * @see M31
   */
  readonly closeTable: (table: Table) => void;
  /** True once a catalogue has been loaded. */
  readonly loaded: () => boolean;
  /** Stops following the database. */
  readonly close: () => void;
}

/** Why the catalogue is read again. */
export interface Refresh {
  /** For the log. */
  readonly reason: string;
  /**
   * The table and error code of a failed statement: then `refresh` waits for a reading that begins
   * afterwards. Undefined for an unknown name.
   */
  readonly failed?: string | undefined;
}

/** Channel of NOTIFY on which changes of the catalogue are announced. */
export const CATALOGUE_CHANNEL = "rowgate_catalogue";
/** Age at which a request has the catalogue read again in the background. */
export const RENEW_AGE_MS = 30_000;
/** After this time without a request, nothing is read: a sleeping database is not woken. */
export const MAX_REST_MS = 900_000;
/** Maximum age of the catalogue for a request, while the database responds. @see T41 */
export const MAX_AGE_MS = 60_000;
/** Least time between two readings, whatever fails meanwhile. @see T39, RE31 */
export const MIN_REFRESH_INTERVAL_MS = 1_000;

/**
 * Follows the catalogue of a database. It is loaded at first use, and replaced as a whole after a
 * reading on NOTIFY, on demand or by age that finds a change.
 *
 * Its age is checked on use, and by `renew`. There is no timer, which would keep a process alive.
 * @see T38, T39, T40, T41, T56
 */
export function followDatabase(database: Database, options: LoadOptions): CurrentCatalogue {
  const { now = () => performance.now() } = options;
  const loader = createCatalogueLoader(database, options);
  const fruitless = rememberFruitless(MIN_REFRESH_INTERVAL_MS, now);
  let running: Promise<void> | undefined;
  /** The next reading, which has not begun yet. */
  let next: Promise<void> | undefined;
  /** When the current catalogue was read, and when the last reading was requested. */
  let readAtMs = -Infinity;
  let refreshedAtMs = -Infinity;
  let usedAtMs = -Infinity;
  let changed = false;
  let listening = false;
  let closed = false;

  return {
    current,
    refresh,
    renew,
    closeTable,
    loaded: () => loader.catalogue() !== undefined,
    close,
  };

  function current(): Catalogue | Promise<Catalogue> {
    usedAtMs = now();
    const ageMs = usedAtMs - readAtMs;
    const catalogue = loader.catalogue();
    const isYoung = !changed && ageMs < RENEW_AGE_MS;
    return catalogue !== undefined && isYoung ? catalogue : renewed(ageMs);
  }

  async function renewed(ageMs: number): Promise<Catalogue> {
    if (loader.catalogue() === undefined) {
      await load("start");
    } else if (changed || ageMs >= MAX_AGE_MS) {
      await refreshQuietly(changed ? "notified" : "age");
    } else {
      void refreshQuietly("age");
    }
    const catalogue = loader.catalogue();
    if (catalogue === undefined) throw new ApiError(503, NOT_LOADED);
    return catalogue;
  }

  function renew(): void {
    const atMs = now();
    const isQuiet = atMs - usedAtMs >= MAX_REST_MS;
    if (loader.catalogue() === undefined || isQuiet || atMs - readAtMs < RENEW_AGE_MS) return;
    void refreshQuietly("age");
  }

  async function refresh(seen: Catalogue, { reason, failed }: Refresh): Promise<boolean> {
    const isSame = () => loader.catalogue() === seen;
    if (failed === undefined && isSame()) await refreshQuietly(reason);
    if (failed !== undefined && isSame() && !fruitless.has(failed)) {
      const askedMs = now();
      await readNext(reason);
      if (isSame() && readAtMs >= askedMs) fruitless.note(failed);
    }
    return loader.catalogue() !== undefined && !isSame();
  }

  function closeTable(table: Table): void {
    if (loader.closeTable(table)) changed = true;
  }

  /**
   * Waits for the next reading that begins: a running one may be older than the failure. There is at
   * most one a second.
   */
  function readNext(reason: string): Promise<void> {
    next ??= awaitInterval().then(() => {
      next = undefined;
      refreshedAtMs = -Infinity;
      return refreshQuietly(reason);
    });
    return next;
  }

  async function awaitInterval(): Promise<void> {
    await running?.catch(() => {});
    const leftMs = refreshedAtMs + MIN_REFRESH_INTERVAL_MS - now();
    if (leftMs > 0) await new Promise((resolve) => setTimeout(resolve, leftMs));
  }

  /** If the reading fails, the catalogue stays; the database rejects what is outdated in it. */
  async function refreshQuietly(reason: string): Promise<void> {
    if (running === undefined) {
      if (closed || now() - refreshedAtMs < MIN_REFRESH_INTERVAL_MS) return;
      refreshedAtMs = now();
    }
    try {
      await load(reason);
    } catch {
      // The loader has observed it.
    }
  }

  function load(reason: string): Promise<void> {
    running ??= readDatabase(reason).finally(() => running = undefined);
    return running;
  }

  async function readDatabase(reason: string): Promise<void> {
    listen();
    changed = false;
    const startedMs = now();
    await loader.load(reason);
    readAtMs = startedMs;
  }

  function listen(): void {
    if (listening) return;
    listening = true;
    database.listen(CATALOGUE_CHANNEL, notified).catch(() => {
      listening = false;
    });
  }

  /** Called on NOTIFY. Within a second of another reading, it is only read at the next use. */
  function notified(): void {
    if (closed) return;
    changed = true;
    if (loader.catalogue() !== undefined && running === undefined) void refreshQuietly("notified");
  }

  function close(): void {
    closed = true;
  }
}
