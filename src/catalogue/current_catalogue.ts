import { ApiError } from "../errors/api_error.ts";
import type { Database } from "../postgres/database.ts";
import { DatabaseError } from "../postgres/database_error.ts";
import type { Observe } from "../telemetry/observe.ts";
import { buildCatalogue, type BuiltCatalogue } from "./build_catalogue.ts";
import type { Catalogue, Table } from "./catalogue.ts";
import { CatalogueConflictError, NOT_LOADED } from "./catalogue_conflict_error.ts";
import { introspect, type IntrospectOptions } from "./introspect.ts";
import type { FoundTable, Introspection, Reading } from "./introspection.ts";
import { addReading, NOTHING_KNOWN } from "./known_tables.ts";
import { probeEngines } from "./probe_engines.ts";

const NOTHING_EXPOSED = 'no table is exposed; "rowgate tables" says why';

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

/** What to read, and where to report it. */
export interface FollowOptions extends IntrospectOptions {
  readonly observe: Observe;
  /** Milliseconds of a monotonic clock; for tests. */
  readonly now?: () => number;
}

/**
 * The current catalogue and what it was built from; `source` is undefined if it must be built again.
 */
interface InForce extends Pick<BuiltCatalogue, "catalogue" | "built"> {
  readonly source: Introspection | undefined;
  /** Number of tables that had been closed when it was built. */
  readonly closings: number;
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
/** Most failures that are remembered, since a trigger may raise any number of codes. */
const MAX_FRUITLESS = 1000;

/**
 * Follows the catalogue of a database. It is loaded at first use, and replaced as a whole after a
 * reading on NOTIFY, on demand or by age that finds a change.
 *
 * Its age is checked on use, and by `renew`. There is no timer, which would keep a process alive.
 * @see T38, T39, T40, T41, T56
 */
export function followDatabase(database: Database, options: FollowOptions): CurrentCatalogue {
  const { observe, now = () => performance.now() } = options;
  let inForce: InForce | undefined;
  /** The results of all readings so far, and the timeline of their primary. */
  let known = NOTHING_KNOWN;
  let timeline: number | undefined;
  let running: Promise<void> | undefined;
  /** The next reading, which has not begun yet. */
  let next: Promise<void> | undefined;
  /** When the current catalogue was read, and when the last reading was requested. */
  let readAtMs = -Infinity;
  let refreshedAtMs = -Infinity;
  let usedAtMs = -Infinity;
  /** Tables that no update can change, and how many there were so far. */
  const closedTables = new WeakSet<FoundTable>();
  let closings = 0;
  let changed = false;
  let listening = false;
  let closed = false;
  const reported = new Set<string>();
  /** When failures persisted after a reading, so that the catalogue is not their cause. */
  const fruitless = new Map<string, number>();

  return { current, refresh, renew, closeTable, loaded: () => inForce !== undefined, close };

  function current(): Catalogue | Promise<Catalogue> {
    usedAtMs = now();
    const ageMs = usedAtMs - readAtMs;
    const isYoung = inForce !== undefined && !changed && ageMs < RENEW_AGE_MS;
    return isYoung ? inForce!.catalogue : renewed(ageMs);
  }

  function renew(): void {
    const atMs = now();
    const isQuiet = atMs - usedAtMs >= MAX_REST_MS;
    if (inForce === undefined || isQuiet || atMs - readAtMs < RENEW_AGE_MS) return;
    void refreshQuietly("age");
  }

  async function renewed(ageMs: number): Promise<Catalogue> {
    if (inForce === undefined) {
      await load("start");
    } else if (changed || ageMs >= MAX_AGE_MS) {
      await refreshQuietly(changed ? "notified" : "age");
    } else {
      void refreshQuietly("age");
    }
    if (inForce === undefined) throw new ApiError(503, NOT_LOADED);
    return inForce.catalogue;
  }

  async function refresh(seen: Catalogue, { reason, failed }: Refresh): Promise<boolean> {
    const isSame = () => inForce?.catalogue === seen;
    if (failed === undefined && isSame()) await refreshQuietly(reason);
    if (failed !== undefined && isSame() && !isFruitless(failed)) {
      const askedMs = now();
      await readNext(reason);
      if (isSame() && readAtMs >= askedMs) remember(failed);
    }
    return inForce !== undefined && !isSame();
  }

  function closeTable({ stored }: Table): void {
    const found = known.introspection.tables.find(({ schema, name }) =>
      schema === stored.schema && name === stored.name
    );
    if (found === undefined || closedTables.has(found)) return;
    closedTables.add(found);
    closings++;
    changed = true;
  }

  /** Reports whether the same failure persisted after a reading less than a second ago. */
  function isFruitless(failed: string): boolean {
    return now() - (fruitless.get(failed) ?? -Infinity) < MIN_REFRESH_INTERVAL_MS;
  }

  function remember(failed: string): void {
    if (fruitless.size === MAX_FRUITLESS) fruitless.clear();
    fruitless.set(failed, now());
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
      // load() has observed it.
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
    try {
      const tables = await readTables();
      await replace(known.introspection, reason);
      readAtMs = startedMs;
      observe({ kind: "catalogue_read", reason, ageMs: now() - startedMs, tables });
    } catch (error) {
      observe({ kind: "catalogue_failed", code: codeOf(error) });
      throw error;
    }
  }

  /**
   * Reads what has changed, and returns the number of tables that were described. Everything is read
   * again if a primary was promoted since the last reading, or during this one, because it may reuse
   * the transaction numbers of its predecessor.
   */
  async function readTables(): Promise<number> {
    const rows = await database.run((sql) => introspect(sql, options, known), {
      write: false,
      ofPrimary: true,
    });
    const newest = database.primary?.timeline();
    const isPromoted = newest !== timeline && known !== NOTHING_KNOWN;
    timeline = newest;
    if (isPromoted) {
      known = NOTHING_KNOWN;
      return await readTables();
    }
    const reading = JSON.parse(rows[0]!.reading) as Reading;
    known = addReading(known, reading);
    return reading.tables.length;
  }

  /** Replaces the catalogue; if nothing has changed, it stays the same object. */
  async function replace(source: Introspection, reason: string): Promise<void> {
    const closingsNow = closings;
    if (inForce?.source === source && inForce.closings === closingsNow) return;
    const { found, complete } = await probeEngines(database, source, closedTables);
    const { catalogue, warnings, conflicts, built } = await buildCatalogue(
      found,
      options,
      inForce?.built,
    );
    if (inForce === undefined && conflicts.length > 0) {
      throw new CatalogueConflictError(conflicts);
    }
    inForce = {
      catalogue,
      built,
      source: complete ? source : undefined,
      closings: closingsNow,
    };
    observe({ kind: "catalogue", tables: catalogue.tables.size, reason });
    const notices = [...conflicts, ...warnings];
    const empty = notices.length === 0 && catalogue.tables.size === 0;
    for (const message of empty ? [NOTHING_EXPOSED] : notices) {
      if (!reported.has(message)) observe({ kind: "warning", message });
      reported.add(message);
    }
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
    if (inForce !== undefined && running === undefined) void refreshQuietly("notified");
  }

  function close(): void {
    closed = true;
  }
}

function codeOf(error: unknown): string {
  if (error instanceof DatabaseError) return error.code;
  return error instanceof ApiError ? String(error.status) : "internal";
}
