import { DatabaseError } from "../postgres/database_error.ts";

/** How old rows are deleted, and how that is reported. */
export interface PruningOptions {
  /** Deletes some old rows, and returns their number. */
  readonly prune: () => Promise<number>;
  /** Most rows that one `prune` deletes; if it deletes as many, there may be more. */
  readonly most: number;
  /** Called with the number of rows once no old one is left. */
  readonly pruned: (rows: number) => void;
  /** Called when `prune` has failed; it is tried again. */
  readonly failed: (error: unknown) => void;
  /** Milliseconds until the first run; random by default, tests pass their own. */
  readonly firstMs?: number | undefined;
  /** Milliseconds from one run to the next; an hour by default. */
  readonly everyMs?: number;
}

/**
 * The first run is at a random time within this one, so that servers that start together do not run
 * together.
 */
const FIRST_MS = 60_000;
const EVERY_MS = 3_600_000;
/** Pause between two statements, in which others can work. */
const PAUSE_MS = 200;

/** Deletes old rows again and again, in small batches, until it is closed. */
export function keepPruning(
  { prune, most, pruned, failed, firstMs = Math.random() * FIRST_MS, everyMs = EVERY_MS }:
    PruningOptions,
): { readonly close: () => void } {
  let rows = 0;
  let closed = false;
  let timer = setTimeout(run, firstMs);

  async function run(): Promise<void> {
    let deleted = 0;
    try {
      deleted = await prune();
    } catch (error) {
      if (!closed) failed(error);
    }
    rows += deleted;
    const hasMore = deleted >= most;
    if (!hasMore && rows > 0) {
      pruned(rows);
      rows = 0;
    }
    if (!closed) timer = setTimeout(run, hasMore ? PAUSE_MS : everyMs);
  }

  function close(): void {
    closed = true;
    clearTimeout(timer);
  }

  return { close };
}

/**
 * Reports whether there can be no old rows: the schema is of an earlier version, or the role may not
 * write them.
 */
export function isUnprepared(error: unknown): boolean {
  return error instanceof DatabaseError && (error.kind === "stale" || error.kind === "permission");
}
