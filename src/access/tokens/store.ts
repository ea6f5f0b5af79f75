import { ApiError } from "../../basics/errors/api_error.ts";
import { TOKEN_LOOK_UPS } from "../../basics/errors/limits.ts";
import type { Database } from "../../database/postgres/database.ts";
import { DatabaseError } from "../../database/postgres/database_error.ts";
import type { Fragment, Sql } from "../../database/postgres/driver.ts";
import type { Measurement, Observe } from "../../server/telemetry/observe.ts";
import { printArray } from "../../basics/text/array_text.ts";
import { openExpiringCache } from "./expiring_cache.ts";
import { type FoundRecords, joinLookUps } from "./join_look_ups.ts";
import type { Access, TokenStore } from "./token.ts";
import { accessOf, hasEnded, parseRecord, printRecord, type TokenRecord } from "./token_record.ts";
import { checkToken, digest } from "./token_text.ts";

/** How long a look-up is cached, so that a revocation takes effect within 5 s. @see A8 */
export const MAX_CACHED_MS = 4000;
/** Look-ups that are cached of valid tokens, and as many of unknown ones. */
const MAX_CACHED = 10_000;
/**
 * For each cached look-up, this many formerly valid tokens are remembered with their tenants. So on a
 * server with many tenants, their look-ups do not wait among those of unknown tokens.
 */
const REMEMBERED = 10;

/** How look-ups are observed, cached and limited. */
export interface StoreOptions {
  readonly observe?: Observe;
  /** Statements at a time that look up tokens that were never valid here. */
  readonly tokenLookUps?: number;
  /** How long a request waits for such a statement. */
  readonly poolWaitMs?: number;
  /** Look-ups that are cached of each sort; for tests. */
  readonly maxCached?: number;
  /** Milliseconds of a clock that never goes back. */
  readonly now?: (() => number) | undefined;
}

type LookUpResult = Extract<Measurement, { kind: "token_lookup" }>["result"];

/** A running look-up. */
interface RunningLookUp {
  readonly startedMs: number;
  readonly access: Promise<Access | null>;
}

/**
 * Finds tokens in schema `rowgate`. Malformed text is rejected without the database. A look-up is
 * cached for 4 s from its start, or until the token expires; requests with the same token share one.
 * Tokens that were never valid are looked up together, by few statements at a time. Rejects with 503 while the database is unavailable, or if too
 * many of those wait.
 * @see A8, A22, L19
 * @see docs/decisions/0011-tokens.md
 */
export function createTokenStore(
  database: Database,
  options: StoreOptions = {},
): TokenStore {
  const { now = () => performance.now(), observe = () => {} } = options;
  const { tokenLookUps: maxRunning = TOKEN_LOOK_UPS, poolWaitMs: waitMs = 5000 } = options;
  const { maxCached: size = MAX_CACHED } = options;
  // Two caches, so that a flood of unknown tokens does not push out the valid ones.
  const valid = openExpiringCache<Access>({ size, now });
  const unknown = openExpiringCache<null>({ size, now });
  const tenants = openExpiringCache<string>({ size: REMEMBERED * size, now });
  const byId = openExpiringCache<string>({ size, now });
  const lookUpUnknown = joinLookUps({
    lookUp: (tokens) => selectRecords(database, tokens),
    maxRunning,
    waitMs,
    now,
  });
  const running = new Map<string, RunningLookUp>();

  function find(token: string): Access | null | Promise<Access | null> {
    const cached = valid.get(token) ?? unknown.get(token);
    return cached === undefined ? findUncached(token) : report("hit", cached);
  }

  function findUncached(token: string): null | Promise<Access | null> {
    if (checkToken(token) === undefined) return report("malformed", null);
    const startedMs = now();
    const shared = running.get(token);
    if (shared !== undefined && startedMs - shared.startedMs < MAX_CACHED_MS) {
      return report("shared", shared.access);
    }
    const isKnown = tenants.get(token) !== undefined;
    const records = isKnown ? selectRecords(database, [token]) : lookUpUnknown(token);
    return report("miss", share(token, startedMs, records));
  }

  /** Caches what a look-up finds of a token, and lets further requests wait for it. */
  function share(
    token: string,
    startedMs: number,
    records: Promise<FoundRecords>,
  ): Promise<Access | null> {
    const own: RunningLookUp = {
      startedMs,
      access: records.then((found) => {
        const text = found.get(token);
        return keepRecord(token, text === undefined ? undefined : parseRecord(text), startedMs);
      }).finally(() => {
        if (running.get(token) === own) running.delete(token);
      }),
    };
    running.set(token, own);
    return own.access;
  }

  function keepRecord(
    token: string,
    record: TokenRecord | undefined,
    startedMs: number,
  ): Access | null {
    const untilMs = startedMs + MAX_CACHED_MS;
    if (record === undefined || hasEnded(record)) {
      valid.delete(token);
      tenants.delete(token);
      unknown.set(token, null, untilMs);
      return null;
    }
    const access = accessOf(record);
    tenants.set(token, access.tenant, Infinity);
    byId.set(record.id, token, Infinity);
    valid.set(token, access, Math.min(untilMs, startedMs + (record.remainingMs ?? Infinity)));
    return access;
  }

  function confirm(records: readonly TokenRecord[], atMs: number): void {
    for (const record of records) {
      const token = byId.get(record.id);
      if (token !== undefined) keepRecord(token, record, atMs);
    }
  }

  function report<T>(result: LookUpResult, access: T): T {
    observe({ kind: "token_lookup", result });
    return access;
  }

  return { find, recall: tenants.get, confirm };
}

/** Returns the records of those tokens that exist, by token, as text for `parseRecord`. */
async function selectRecords(
  database: Database,
  tokens: readonly string[],
): Promise<FoundRecords> {
  const byDigest = new Map(tokens.map((token) => [digest(token), token]));
  const digests = [...byDigest.keys()];
  try {
    const rows = await database.run<{ digest: string; record: string }>(
      (sql) =>
        sql`select pg_catalog.encode(t.digest, 'hex') as digest, ${printRecord(sql)} as record
          from ${compileDigests(sql, digests)}`,
      { write: false, ofPrimary: true },
    );
    return new Map(rows.map(({ digest, record }) => [byDigest.get(digest)!, record]));
  } catch (error) {
    throw isNotReady(error) ? rejectNotReady(error) : error;
  }
}

/** Compiles the tokens with these digests, as `t`. For a single one, the join takes twice the time. */
function compileDigests(sql: Sql, digests: readonly string[]): Fragment {
  const [first = "", ...others] = digests;
  return others.length === 0
    ? sql`rowgate.tokens t where t.digest = pg_catalog.decode(${first}::text, 'hex')`
    : sql`pg_catalog.unnest(${printArray(digests)}::text::text[]) d (hex)
        join rowgate.tokens t on t.digest = pg_catalog.decode(d.hex, 'hex')`;
}

/** Reports whether the schema is missing or may not be read: then the token may well be valid. */
function isNotReady(error: unknown): boolean {
  return error instanceof DatabaseError && (error.kind === "stale" || error.kind === "permission");
}

function rejectNotReady(cause: unknown): ApiError {
  const headers = { "Retry-After": "1" };
  return new ApiError(503, "The service is not ready", { headers, cause });
}
