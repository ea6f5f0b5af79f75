import type { Database } from "../database/postgres/database.ts";

/** A request for a part of a token's limit. */
export interface LeaseQuestion {
  readonly id: string;
  /** Requests that the lease should allow. */
  readonly want: number;
  /** Unused requests of an earlier lease, which are returned. */
  readonly back: number;
}

/** The requests that were granted. */
export interface Lease {
  readonly id: string;
  readonly granted: number;
  /** What is left for all instances. */
  readonly level: number;
}

/** Where the limits of all instances are kept. */
export interface RateLeases {
  /** @throws {DatabaseError} `permission` or `stale` where the role or the schema does not allow it */
  readonly lease: (asked: readonly LeaseQuestion[]) => Promise<readonly Lease[]>;
  /** Deletes buckets that are full again, and returns how many. @throws {DatabaseError} */
  readonly prune: () => Promise<number>;
}

/** Buckets that one statement deletes. */
export const PRUNED_BUCKETS = 10_000;

/** Opens the leases of a database. The functions are in the schema `rowgate`; the clock is the database's. */
export function openRateLeases(
  database: Pick<Database, "run">,
  { requests, windowSeconds }: { readonly requests: number; readonly windowSeconds: number },
): RateLeases {
  async function lease(asked: readonly LeaseQuestion[]): Promise<readonly Lease[]> {
    const rows = await database.run<{ id: string; granted: string; level: string }>(
      (sql) =>
        sql`select l.id, l.granted::text, l.level::text from rowgate.lease_rates(
          ${JSON.stringify(asked)}::text::json, ${String(requests)}::text::float8,
          ${String(requests / windowSeconds)}::text::float8) l`,
      { write: true },
    );
    return rows.map(({ id, granted, level }) => ({
      id,
      granted: Number(granted),
      level: Number(level),
    }));
  }

  async function prune(): Promise<number> {
    const [row] = await database.run<{ deleted: string }>(
      (sql) =>
        sql`select rowgate.prune_rates(${String(windowSeconds)}::text::float8, ${
          String(PRUNED_BUCKETS)
        }::text::int4)::text as deleted`,
      { write: true },
    );
    return Number(row!.deleted);
  }

  return { lease, prune };
}
