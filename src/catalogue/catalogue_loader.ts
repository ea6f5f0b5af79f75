import { ApiError } from "../basics/errors/api_error.ts";
import type { Database } from "../database/postgres/database.ts";
import { DatabaseError } from "../database/postgres/database_error.ts";
import type { Observe } from "../server/telemetry/observe.ts";
import { buildCatalogue } from "./build_catalogue.ts";
import type { Catalogue, Table } from "./catalogue.ts";
import { CatalogueConflictError } from "./catalogue_conflict_error.ts";
import { introspect, type IntrospectOptions } from "./introspect.ts";
import type { FoundTable, Introspection } from "./introspection.ts";
import { probeEngines } from "./probe_engines.ts";

const NOTHING_EXPOSED = 'no table is exposed; "rowgate tables" says why';

/** Reads a database and builds its catalogue, whenever `load` is called. */
export interface CatalogueLoader {
  /** The last catalogue; undefined before the first. */
  readonly catalogue: () => Catalogue | undefined;
  /**
   * Reads the schemas, and replaces the catalogue as a whole; if nothing has changed, it stays the
   * same object. Not to be called again before it settles.
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

/** A catalogue and what it was built from. */
interface Loaded {
  readonly catalogue: Catalogue;
  readonly digest: string;
  /** False if it must be built again. */
  readonly complete: boolean;
  readonly source: Introspection;
  /** Number of tables that had been closed when it was built. */
  readonly closings: number;
}

/** Makes the loader of a database's catalogue, which has read nothing yet. */
export function createCatalogueLoader(database: Database, options: LoadOptions): CatalogueLoader {
  const { observe, now = () => performance.now() } = options;
  let loaded: Loaded | undefined;
  /** The descriptions of tables that no update can change. */
  const closedTables = new Set<string>();
  const reported = new Set<string>();

  return { catalogue: () => loaded?.catalogue, load, closeTable };

  async function load(reason: string): Promise<void> {
    const startedMs = now();
    try {
      await read(reason);
      observe({ kind: "catalogue_read", reason, ageMs: now() - startedMs });
    } catch (error) {
      observe({ kind: "catalogue_failed", code: codeOf(error) });
      throw error;
    }
  }

  async function read(reason: string): Promise<void> {
    const isCurrent = loaded?.complete && loaded.closings === closedTables.size;
    const known = isCurrent ? loaded?.digest : undefined;
    const [row] = await database.run((sql) => introspect(sql, options, known), {
      write: false,
      ofPrimary: true,
    });
    const { digest, reading } = row!;
    if (reading !== null) await build({ digest, source: JSON.parse(reading) }, reason);
  }

  async function build(
    { digest, source }: Pick<Loaded, "digest" | "source">,
    reason: string,
  ): Promise<void> {
    const closings = closedTables.size;
    const isClosed = (table: FoundTable) => closedTables.has(JSON.stringify(table));
    const { found, complete } = await probeEngines(database, source, isClosed);
    const { catalogue, warnings, conflicts } = await buildCatalogue(found, options);
    if (loaded === undefined && conflicts.length > 0) {
      throw new CatalogueConflictError(conflicts);
    }
    loaded = { catalogue, digest, source, complete, closings };
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
    const found = loaded?.source.tables.find(({ schema, name }) =>
      schema === stored.schema && name === stored.name
    );
    const description = JSON.stringify(found);
    if (found === undefined || closedTables.has(description)) return false;
    closedTables.add(description);
    return true;
  }
}

function codeOf(error: unknown): string {
  if (error instanceof DatabaseError) return error.code;
  return error instanceof ApiError ? String(error.status) : "internal";
}
