import { findDatabaseError } from "../postgres/database_error.ts";
import type { ExportedRows } from "../../records/export.ts";

/** The tables of tenants with an export that a standby has cancelled. */
export interface Conflicts {
  readonly note: (tenant: string, table: string) => void;
  readonly isRecent: (tenant: string, table: string) => boolean;
}

/** How long the next exports of such a table run on the primary. */
const REMEMBERED_MS = 600_000;
/** Most tables that are remembered; the oldest are forgotten. */
const MAX_REMEMBERED = 1000;

/**
 * Remembers exports that a standby cancelled because they held up its replay. Repeated there, they
 * would probably be cancelled again.
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

/** Calls back if a standby cancels an export because of its replay. */
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
