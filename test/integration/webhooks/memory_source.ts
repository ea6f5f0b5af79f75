import { ApiError } from "../../../src/basics/errors/api_error.ts";
import type { ChangeSource } from "../../../src/feeds/webhooks/change_source.ts";

/** A feed in this process, in place of the one of the database: its changes are what a test says. */
export interface MemorySource extends ChangeSource {
  /** Adds a change of a row, and tells those that watch. */
  readonly change: (tenant: string, table: string, record: Record<string, unknown>) => void;
  /** Forgets the changes up to now: cursors before are 410. */
  readonly forget: (tenant: string, table: string) => void;
  /** Tells nothing to those that watch, as if the notice was lost. */
  silent: boolean;
  /** Readings so far. */
  readings: number;
  /** How often clients came to see something else; a part of cursors from then on. */
  views: number;
}

/** Opens a feed with a row `{id, …}` for each change. */
export function openMemorySource(): MemorySource {
  const feeds = new Map<string, Record<string, unknown>[]>();
  const oldest = new Map<string, number>();
  const watchers = new Map<string, Set<() => void>>();
  const keyOf = (tenant: string, table: string) => `${tenant} ${table}`;

  const source: MemorySource = {
    silent: false,
    readings: 0,
    views: 0,
    change(tenant, table, record) {
      const key = keyOf(tenant, table);
      feeds.set(key, [...feeds.get(key) ?? [], record]);
      if (source.silent) return;
      for (const changed of watchers.get(key) ?? []) changed();
    },
    forget(tenant, table) {
      const key = keyOf(tenant, table);
      oldest.set(key, feeds.get(key)?.length ?? 0);
    },
    begin: ({ tenant }, { name }) =>
      Promise.resolve(String(feeds.get(keyOf(tenant, name))?.length ?? 0)),
    read({ access: { tenant }, table: { name }, cursor, limit, keyOnly }) {
      source.readings++;
      const key = keyOf(tenant, name);
      const from = parseInt(cursor);
      if (from < (oldest.get(key) ?? 0)) throw new ApiError(410, "since: it is too old");
      const rows = (feeds.get(key) ?? []).slice(from, from + limit);
      const changes = rows.map((record) => ({
        type: "upsert",
        key: { id: record["id"] },
        record: keyOnly ? { id: record["id"] } : record,
      }));
      return Promise.resolve({
        changes: JSON.stringify(changes),
        count: rows.length,
        cursor: `${from + rows.length}${source.views === 0 ? "" : ` ${source.views}`}`,
        more: false,
      });
    },
    isOfView: ({ cursor }) => Promise.resolve(Number(cursor.split(" ")[1] ?? 0) === source.views),
    watch({ tenant, table }, changed) {
      const key = keyOf(tenant, table);
      const set = watchers.get(key) ?? new Set();
      watchers.set(key, set.add(changed));
      changed();
      return () => set.delete(changed);
    },
  };
  return source;
}
