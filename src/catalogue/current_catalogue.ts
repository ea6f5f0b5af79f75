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

/** The catalogue in force, following the database. @see T42 */
export interface CurrentCatalogue {
  /**
   * The catalogue in force, at once where that is young enough; loads it when there is none yet.
   * Rejects with a `DatabaseError`.
   */
  readonly current: () => Catalogue | Promise<Catalogue>;
  /**
   * Reads the database again, once at a time; true if a catalogue other than the caller's is in force
   * afterwards.
   */
  readonly refresh: (seen: Catalogue, why: Refresh) => Promise<boolean>;
  /**
   * Reads the database again in the background where the catalogue is half a minute old and was used in
   * the last quarter of an hour. Called from time to time, it saves the first requests after a quiet time
   * a reading. @see T56
   */
  readonly renew: () => void;
  /**
   * Marks a table as one that cannot be updated, which an update has shown, until the database describes
   * it differently. Clients see it with the next reading, a second later at most.
   * @see M31
   */
  readonly closeTable: (table: Table) => void;
  /** True once a catalogue has been loaded. */
  readonly loaded: () => boolean;
  /** Stops following. */
  readonly close: () => void;
}

/** Why the catalogue is read again. */
export interface Refresh {
  /** For the log. */
  readonly reason: string;
  /**
   * The table and the error code of a statement that failed: waits for a read that begins later.
   * Undefined for an unknown name.
   */
  readonly failed?: string | undefined;
}

/** What to read, and where to report it. */
export interface FollowOptions extends IntrospectOptions {
  readonly observe: Observe;
  /** Milliseconds of a monotonic clock; for tests. */
  readonly now?: () => number;
}

/** The catalogue in force, and what it was built from; undefined where that must be tried again. */
interface InForce extends Pick<BuiltCatalogue, "catalogue" | "built"> {
  readonly source: Introspection | undefined;
  /** How many tables were closed by then. */
  readonly closings: number;
}

/** Channel of NOTIFY on which changes of the catalogue are announced. */
export const CATALOGUE_CHANNEL = "rowgate_catalogue";
/** From this age on, the catalogue is read again in the background of a request. */
export const RENEW_AGE_MS = 30_000;
/** A service without a request for so long reads nothing more, so that a database that sleeps is not woken. */
export const MAX_REST_MS = 900_000;
/** While the database responds, no request sees a catalogue older than this. @see T41 */
export const MAX_AGE_MS = 60_000;
/** Time between two reads, however many names are unknown and statements fail. @see T39, RE31 */
export const MIN_REFRESH_INTERVAL_MS = 1_000;
/** Failures that are remembered; a trigger may raise any number of codes. */
const MAX_FRUITLESS = 1000;

/**
 * Follows the catalogue of a database. It is loaded at first use, read again on NOTIFY, on demand and
 * by age, replaced as a whole, and kept when a read fails or finds nothing new.
 *
 * Its age is checked on use, and when `renew` is called. There is no timer that would keep a process
 * alive.
 * @see T38, T39, T40, T41, T56
 */
export function followDatabase(database: Database, options: FollowOptions): CurrentCatalogue {
  const { observe, now = () => performance.now() } = options;
  let inForce: InForce | undefined;
  /** What the readings so far found, and the timeline of the primary that they are of. */
  let known = NOTHING_KNOWN;
  let timeline: number | undefined;
  let running: Promise<void> | undefined;
  /** A read that has not begun yet. */
  let next: Promise<void> | undefined;
  /** When the catalogue in force was read; when the last read was requested. */
  let readAtMs = -Infinity;
  let refreshedAtMs = -Infinity;
  let usedAtMs = -Infinity;
  /** Tables that no update can change, and how many there have been. */
  const closedTables = new WeakSet<FoundTable>();
  let closings = 0;
  let changed = false;
  let listening = false;
  let closed = false;
  const reported = new Set<string>();
  /** When a failure outlived a read: the catalogue is not its cause. */
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

  /** Reports whether the same failure outlived a read less than a second ago. */
  function isFruitless(failed: string): boolean {
    return now() - (fruitless.get(failed) ?? -Infinity) < MIN_REFRESH_INTERVAL_MS;
  }

  function remember(failed: string): void {
    if (fruitless.size === MAX_FRUITLESS) fruitless.clear();
    fruitless.set(failed, now());
  }

  /**
   * Joins the next read that begins, since a running one may have begun before the statement failed.
   * There is at most one in a second.
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

  /** Keeps the catalogue in force when the read fails: the database rejects what is wrong in it. */
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
   * Adds what changed to what is known, and gives the number of tables that were described. Everything is
   * read again if a primary was promoted since the last reading, or during this one: it gives other
   * transactions the numbers that some had on the primary before.
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

  /** Where nothing has changed, requests keep the catalogue that they have. */
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

  /** If it cannot be read now, within a second of another read, it is read at the next use. */
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
