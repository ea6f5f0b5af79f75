import { ApiError } from "../errors/api_error.ts";
import { TOKEN_LOOK_UPS } from "../errors/limits.ts";
import type { Database } from "../postgres/database.ts";
import { DatabaseError } from "../postgres/database_error.ts";
import type { Measurement, Observe } from "../telemetry/observe.ts";
import { openExpiringCache } from "./expiring_cache.ts";
import { limitLookUps } from "./limit_look_ups.ts";
import type { Access, TokenStore } from "./token.ts";
import { hasEnded, parseRecord, printRecord, type TokenRecord } from "./token_record.ts";
import { checkToken, digest } from "./token_text.ts";

/** How long a look-up is cached, so that a revocation takes effect within 5 s. @see A8 */
export const MAX_CACHED_MS = 4000;
/** Look-ups that are cached of valid tokens, and as many of unknown ones. */
const MAX_CACHED = 10_000;
/**
 * For each cached look-up, this many formerly valid tokens are remembered with their tenants. So on a
 * server with many tenants, their look-ups do not wait among those of unknown tokens. About 15 MB in
 * all.
 */
const REMEMBERED = 10;

/** How look-ups are observed, cached and limited. */
export interface StoreOptions {
  readonly observe?: Observe;
  /** Simultaneous look-ups of tokens that were never valid here. */
  readonly tokenLookUps?: number;
  /** How long a request waits for such a look-up. */
  readonly poolWaitMs?: number;
  /** Look-ups that are cached of each sort; for tests. */
  readonly maxCached?: number;
  /** Milliseconds of a clock that never goes back. */
  readonly now?: () => number;
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
 * Only a few tokens that were never valid are looked up at a time. Rejects with 503 while the database
 * is unavailable, or if too many of those wait.
 * @see A8, A22, L19
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
  const byId = openExpiringCache<{ readonly token: string; readonly access: Access }>({
    size,
    now,
  });
  const runLimited = limitLookUps({ maxRunning, waitMs, now });
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
    const own: RunningLookUp = {
      startedMs,
      access: lookUpInTurn(token, startedMs).finally(() => {
        if (running.get(token) === own) running.delete(token);
      }),
    };
    running.set(token, own);
    return report("miss", own.access);
  }

  function lookUpInTurn(token: string, startedMs: number): Promise<Access | null> {
    if (tenants.get(token) !== undefined) return lookUp(token, startedMs);
    return runLimited(() => lookUp(token, startedMs));
  }

  async function lookUp(token: string, startedMs: number): Promise<Access | null> {
    const record = await selectRecord(database, digest(token));
    const untilMs = startedMs + MAX_CACHED_MS;
    if (record === undefined || hasEnded(record)) {
      unknown.set(token, null, untilMs);
      // A token that was never valid must not displace formerly valid ones.
      if (tenants.get(token) !== undefined) tenants.set(token, "", 0);
      return null;
    }
    const { id: tokenId, name, tenant, scopes, tables, expiresAt } = record;
    const access: Access = { tokenId, name, tenant, scopes, tables, expiresAt };
    tenants.set(token, tenant, Infinity);
    byId.set(tokenId, { token, access }, Infinity);
    valid.set(token, access, Math.min(untilMs, startedMs + (record.remainingMs ?? Infinity)));
    return access;
  }

  function confirm(tokenIds: readonly string[], atMs: number): void {
    for (const id of tokenIds) {
      const known = byId.get(id);
      if (known !== undefined) valid.set(known.token, known.access, atMs + MAX_CACHED_MS);
    }
  }

  function report<T>(result: LookUpResult, access: T): T {
    observe({ kind: "token_lookup", result });
    return access;
  }

  return { find, recall: tenants.get, confirm };
}

async function selectRecord(database: Database, hex: string): Promise<TokenRecord | undefined> {
  try {
    const [row] = await database.run<{ record: string }>(
      (sql) =>
        sql`select ${printRecord(sql)} as record from rowgate.tokens t
          where t.digest = pg_catalog.decode(${hex}::text, 'hex')`,
      { write: false, ofPrimary: true },
    );
    return row === undefined ? undefined : parseRecord(row.record);
  } catch (error) {
    throw isNotReady(error) ? rejectNotReady(error) : error;
  }
}

/** Reports whether the schema is missing or may not be read: then the token may well be valid. */
function isNotReady(error: unknown): boolean {
  return error instanceof DatabaseError && (error.kind === "stale" || error.kind === "permission");
}

function rejectNotReady(cause: unknown): ApiError {
  const headers = { "Retry-After": "1" };
  return new ApiError(503, "The service is not ready", { headers, cause });
}
