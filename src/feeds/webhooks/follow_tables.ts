import type { ChangeSource } from "./change_source.ts";
import type { WatchedTables } from "./watched_tables.ts";

/** A table of a tenant. */
export type TenantTable = WatchedTables["tables"][number];

/** The tables whose changes are followed. */
export interface FollowedTables {
  /** Follows these tables from now on, and no others. */
  readonly follow: (tables: readonly TenantTable[]) => void;
  readonly close: () => void;
}

/** Follows tables of a source; `onChange` is called with each that changes. */
export function followTables(
  source: Pick<ChangeSource, "watch">,
  onChange: (table: TenantTable) => void,
): FollowedTables {
  const stops = new Map<string, () => void>();

  function follow(tables: readonly TenantTable[]): void {
    const wanted = new Map(tables.map((each) => [JSON.stringify([each.tenant, each.table]), each]));
    for (const [key, stop] of stops) {
      if (wanted.has(key)) continue;
      stop();
      stops.delete(key);
    }
    for (const [key, each] of wanted) {
      if (!stops.has(key)) stops.set(key, source.watch(each, () => onChange(each)));
    }
  }

  function close(): void {
    for (const stop of stops.values()) stop();
  }

  return { follow, close };
}
