import { findDatabaseError } from "../postgres/database_error.ts";
import type { ExportedRows } from "../records/export.ts";

/** Which tables of a tenant had an export that its standby ended. */
export interface Conflicts {
  readonly note: (tenant: string, table: string) => void;
  readonly isRecent: (tenant: string, table: string) => boolean;
}

/** So long the next exports run on the primary. */
const REMEMBERED_MS = 600_000;
/** When so many are remembered, the oldest are forgotten. */
const MAX_REMEMBERED = 1000;

/**
 * Remembers exports that were cut off since they held up what the standby had to apply: when they are
 * repeated there, they are likely to be cut off again.
 */
export function rememberConflicts(now: () => number = () => performance.now()): Conflicts {
  const untilMs = new Map<string, number>();

  function note(tenant: string, table: string): void {
    const key = keyOf(tenant, table);
    untilMs.delete(key);
    untilMs.set(key, now() + REMEMBERED_MS);
    if (untilMs.size > MAX_REMEMBERED) untilMs.delete(untilMs.keys().next().value!);
  }

  return {
    note,
    isRecent: (tenant, table) => (untilMs.get(keyOf(tenant, table)) ?? 0) > now(),
  };
}

function keyOf(tenant: string, table: string): string {
  return JSON.stringify([tenant, table]);
}

/** Calls back when the standby ends an export for what it has to apply. */
export function watchConflicts(rows: ExportedRows, noted: () => void): ExportedRows {
  async function next() {
    try {
      return await rows.next();
    } catch (error) {
      if (findDatabaseError(error)?.kind === "serialization") noted();
      throw error;
    }
  }

  return { ...rows, next };
}
