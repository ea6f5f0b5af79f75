import type { Database } from "../../../src/database/postgres/database.ts";
import { DatabaseError, type Failure } from "../../../src/database/postgres/database_error.ts";
import { createTokenStore, type StoreOptions } from "../../../src/access/tokens/store.ts";

/** Opens a token store on a database that counts statements, and returns what the test sets. */
export function openSubject(options: StoreOptions = {}) {
  const state = {
    asked: 0,
    now: 0,
    digests: [] as string[],
    record: undefined as object | undefined,
    unknown: new Set<string>(),
    broken: new Set<string>(),
    failure: undefined,
    held: undefined,
  } as {
    asked: number;
    now: number;
    /** Those that the latest statement asks for. */
    digests: string[];
    /** The record of each token; undefined: there is none. */
    record: object | undefined;
    /** Digests of tokens that have none. */
    unknown: Set<string>;
    /** Digests of tokens whose record is no record. */
    broken: Set<string>;
    failure: Failure | undefined;
    /** No response is given before this is settled. */
    held: Promise<void> | undefined;
  };
  async function run(compile: (sql: typeof listParameters) => readonly unknown[]) {
    state.asked++;
    const digests = compile(listParameters).join().match(DIGEST) ?? [];
    state.digests = digests;
    await (state.held ?? new Promise((resolve) => setTimeout(resolve, 5)));
    if (state.failure !== undefined) throw new DatabaseError(state.failure, { write: false });
    if (state.record === undefined) return [];
    const record = JSON.stringify(state.record);
    return digests.filter((digest) => !state.unknown.has(digest))
      .map((digest) => ({ digest, record: state.broken.has(digest) ? "{}" : record }));
  }
  const database = { run } as unknown as Database;
  return { state, store: createTokenStore(database, { ...options, now: () => state.now }) };
}

/** The digest of a token in hex. */
const DIGEST = /[0-9a-f]{64}/g;

/** Takes the place of the driver's tag: returns the parameters of a statement instead of the statement. */
export function listParameters(_texts: unknown, ...values: readonly unknown[]): readonly unknown[] {
  return values.flat();
}

/** A record of `rowgate.tokens`, as the database prints it. */
export const RECORD = {
  id: "aaaaaaaaaaa",
  name: null,
  tenant: "acme",
  scopes: ["query"],
  tables: ["orders"],
  created_at: "2026-01-01T00:00:00.000Z",
  expires_at: "2027-01-01T00:00:00.000Z",
  revoked_at: null,
  replaces: null,
  remaining_ms: 1e9,
};
