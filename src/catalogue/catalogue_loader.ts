import { ApiError } from "../errors/api_error.ts";
import type { Database } from "../postgres/database.ts";
import { DatabaseError } from "../postgres/database_error.ts";
import type { Observe } from "../telemetry/observe.ts";
import { buildCatalogue, type BuiltCatalogue } from "./build_catalogue.ts";
import type { Catalogue, Table } from "./catalogue.ts";
import { CatalogueConflictError } from "./catalogue_conflict_error.ts";
import { introspect, type IntrospectOptions } from "./introspect.ts";
import type { FoundTable, Introspection, Reading } from "./introspection.ts";
import { addReading, NOTHING_KNOWN } from "./known_tables.ts";
import { probeEngines } from "./probe_engines.ts";

const NOTHING_EXPOSED = 'no table is exposed; "rowgate tables" says why';

/** Reads a database and builds its catalogue, whenever `load` is called. */
export interface CatalogueLoader {
  /** The last catalogue; undefined before the first. */
  readonly catalogue: () => Catalogue | undefined;
  /**
   * Reads what has changed, and replaces the catalogue as a whole; if nothing has changed, it stays
   * the same object. Not to be called again before it settles.
   * @throws {DatabaseError}
   * @throws {CatalogueConflictError} there is no catalogue yet, and there can be none
   */
  readonly load: (reason: string) => Promise<void>;
  /**
   * Marks a table as not updatable from the next `load` on, until its description changes. Returns
   * false if it is already.
   */
  readonly closeTable: (table: Table) => boolean;
}

/** What to read, and where to report it. */
export interface LoadOptions extends IntrospectOptions {
  readonly observe: Observe;
  /** Milliseconds of a monotonic clock; for tests. */
  readonly now?: () => number;
}

/** A catalogue and what it was built from; `source` is undefined if it must be built again. */
interface Loaded extends Pick<BuiltCatalogue, "catalogue" | "built"> {
  readonly source: Introspection | undefined;
  /** Number of tables that had been closed when it was built. */
  readonly closings: number;
}

/** Makes the loader of a database's catalogue, which has read nothing yet. */
export function createCatalogueLoader(database: Database, options: LoadOptions): CatalogueLoader {
  const { observe, now = () => performance.now() } = options;
  let loaded: Loaded | undefined;
  /** The results of all readings so far, and the timeline of their primary. */
  let known = NOTHING_KNOWN;
  let timeline: number | undefined;
  /** Tables that no update can change, and how many there were so far. */
  const closedTables = new WeakSet<FoundTable>();
  let closings = 0;
  const reported = new Set<string>();

  return { catalogue: () => loaded?.catalogue, load, closeTable };

  async function load(reason: string): Promise<void> {
    const startedMs = now();
    try {
      const tables = await read();
      await build(known.introspection, reason);
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
  async function read(): Promise<number> {
    const rows = await database.run((sql) => introspect(sql, options, known), {
      write: false,
      ofPrimary: true,
    });
    const newest = database.primary?.timeline();
    const isPromoted = newest !== timeline && known !== NOTHING_KNOWN;
    timeline = newest;
    if (isPromoted) {
      known = NOTHING_KNOWN;
      return await read();
    }
    const reading = JSON.parse(rows[0]!.reading) as Reading;
    known = addReading(known, reading);
    return reading.tables.length;
  }

  async function build(source: Introspection, reason: string): Promise<void> {
    const closingsNow = closings;
    if (loaded?.source === source && loaded.closings === closingsNow) return;
    const { found, complete } = await probeEngines(database, source, closedTables);
    const { catalogue, warnings, conflicts, built } = await buildCatalogue(
      found,
      options,
      loaded?.built,
    );
    if (loaded === undefined && conflicts.length > 0) {
      throw new CatalogueConflictError(conflicts);
    }
    loaded = {
      catalogue,
      built,
      source: complete ? source : undefined,
      closings: closingsNow,
    };
    observe({ kind: "catalogue", tables: catalogue.tables.size, reason });
    const notices = [...conflicts, ...warnings];
    const empty = notices.length === 0 && catalogue.tables.size === 0;
    warnOnce(empty ? [NOTHING_EXPOSED] : notices);
  }

  function warnOnce(messages: readonly string[]): void {
    for (const message of messages) {
      if (!reported.has(message)) observe({ kind: "warning", message });
      reported.add(message);
    }
  }

  function closeTable({ stored }: Table): boolean {
    const found = known.introspection.tables.find(({ schema, name }) =>
      schema === stored.schema && name === stored.name
    );
    if (found === undefined || closedTables.has(found)) return false;
    closedTables.add(found);
    closings++;
    return true;
  }
}

function codeOf(error: unknown): string {
  if (error instanceof DatabaseError) return error.code;
  return error instanceof ApiError ? String(error.status) : "internal";
}
