import type { Database } from "../postgres/database.ts";
import { DatabaseError } from "../postgres/database_error.ts";
import { ApiError } from "../errors/api_error.ts";
import type { Measurement, Observe } from "../telemetry/observe.ts";
import { type Answers, openAnswers } from "./answers.ts";
import { describeRow } from "./describe_row.ts";
import { parseRecord } from "./token_record.ts";
import type { Access, TokenStore } from "./token.ts";
import { openStrangers } from "./strangers.ts";
import { checkToken, digest } from "./token_text.ts";

/** Longest time that an answer of the database is believed. @see A8 */
export const MAX_ANSWER_AGE_MS = 4000;
/** Answers kept of each sort, good tokens and unknown ones. */
const MAX_ANSWERS = 10_000;
/** Look-ups of tokens that were never good here, at a time, and how many more may wait for how long. */
const STRANGERS = { most: 2, queue: 64, waitMs: 5000 };

/** Who hears of look-ups, and what tests set. */
export interface StoreOptions {
  readonly observe?: Observe;
  /** Milliseconds of a clock that never goes back. */
  readonly now?: () => number;
}

type Lookup = Extract<Measurement, { kind: "token_lookup" }>["result"];

/** A question that is on its way to the database. */
interface Asking {
  readonly sinceMs: number;
  readonly answer: Promise<Access | null>;
}

/**
 * Finds tokens in schema `rowgate`. Text that can not be a token is refused without the database; an
 * answer is believed for 4 s from when it was asked for, so that a revocation bites within 5 s; the
 * same question is asked once at a time. A known token takes 0.3 µs, the checksum and digest of a new
 * one 137, and then comes Postgres. Tokens that were never good are looked up two at a time. Rejects
 * with 503 while the database can not tell, or too many of those wait.
 * @see A8, A22
 */
export function createTokenStore(
  database: Database,
  { now = () => performance.now(), observe = () => {} }: StoreOptions = {},
): TokenStore {
  // Apart, so that a flood of unknown tokens does not push out the good ones.
  const good = openAnswers<Access>({ size: MAX_ANSWERS, now });
  const unknown: Answers<null> = openAnswers<null>({ size: MAX_ANSWERS, now });
  const tenants = openAnswers<string>({ size: MAX_ANSWERS, now });
  const inTurn = openStrangers({ ...STRANGERS, now });
  const asking = new Map<string, Asking>();

  const remember = (token: string) => good.get(token) ?? unknown.get(token);

  function find(token: string): Access | null | Promise<Access | null> {
    const found = remember(token);
    return found === undefined ? lookUp(token) : tell("hit", found);
  }

  async function lookUp(token: string): Promise<Access | null> {
    if (await checkToken(token) === undefined) return tell("malformed", null);
    // Another request may have had its answer while this one's digest was made.
    const answered = remember(token);
    if (answered !== undefined) return tell("shared", answered);
    const sinceMs = now();
    const running = asking.get(token);
    if (running !== undefined && sinceMs - running.sinceMs < MAX_ANSWER_AGE_MS) {
      return tell("shared", running.answer);
    }
    const own: Asking = {
      sinceMs,
      answer: askFor(token, sinceMs).finally(() => {
        if (asking.get(token) === own) asking.delete(token);
      }),
    };
    asking.set(token, own);
    return tell("miss", own.answer);
  }

  function askFor(token: string, sinceMs: number): Promise<Access | null> {
    if (tenants.get(token) !== undefined) return ask(token, sinceMs);
    return inTurn(() => ask(token, sinceMs));
  }

  function tell<T>(result: Lookup, answer: T): T {
    observe({ kind: "token_lookup", result });
    return answer;
  }

  async function ask(token: string, sinceMs: number): Promise<Access | null> {
    const record = await select(database, await digest(token));
    if (record === undefined || record.remainingMs === 0) {
      unknown.set(token, null, sinceMs + MAX_ANSWER_AGE_MS);
      tenants.set(token, "", 0);
      return null;
    }
    const access: Access = {
      tokenId: record.id,
      name: record.name,
      tenant: record.tenant,
      scopes: record.scopes,
      tables: record.tables,
      expiresAt: record.expiresAt,
    };
    tenants.set(token, access.tenant, Infinity);
    good.set(token, access, sinceMs + Math.min(MAX_ANSWER_AGE_MS, record.remainingMs ?? Infinity));
    return access;
  }

  return { find, recall: tenants.get };
}

async function select(database: Database, hex: string) {
  try {
    const [row] = await database.run<{ record: string }>(
      (sql) =>
        sql`select ${describeRow(sql)} as record from rowgate.tokens t
          where t.digest = pg_catalog.decode(${hex}::text, 'hex')`,
      { write: false },
    );
    return row === undefined ? undefined : parseRecord(row.record);
  } catch (error) {
    throw isMissing(error) ? refuseUnready(error) : error;
  }
}

/** The schema is not made yet, or may not be read: the token may well be good. */
function isMissing(error: unknown): boolean {
  return error instanceof DatabaseError && (error.kind === "stale" || error.kind === "permission");
}

function refuseUnready(error: unknown): ApiError {
  const headers = { "Retry-After": "1" };
  return new ApiError(503, "The service is not ready", { headers, cause: error });
}
