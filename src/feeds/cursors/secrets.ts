import type { Database } from "../../database/postgres/database.ts";
import { DatabaseError } from "../../database/postgres/database_error.ts";

/** How long the secrets are used before they are read again. */
const MAX_AGE_MS = 60_000;
/** Least time between two reads because of an unknown number, since anyone can make one up. */
const MIN_AGE_MS = 1000;
/** Most secrets that are read: the newest one seals, and older ones still open their cursors. */
const MAX_SECRETS = 16;

/** A secret of the schema `rowgate`, from which keys are derived. */
export interface Secret {
  readonly number: number;
  readonly key: CryptoKey;
  /** The keys that were derived from it, by salt. */
  readonly keys: Map<string, Promise<CryptoKey>>;
}

/** The secrets of a database. They are the same on every instance and worker, and after a restart. */
export interface Secrets {
  /**
   * The newest secret; undefined if the role may not read them, or the schema has none yet.
   * @throws {DatabaseError} when the database cannot be asked
   */
  readonly newest: () => Promise<Secret | undefined>;
  /** The secret with a number. @throws {DatabaseError} */
  readonly find: (number: number) => Promise<Secret | undefined>;
}

/** The secrets as they were read at one time. */
interface Read {
  readonly atMs: number;
  readonly secrets: Promise<readonly Secret[]>;
}

/**
 * Opens the secrets of a database. They are cached for a minute, so every process uses a new one
 * within a minute. An unknown number is looked up at once.
 */
export function openSecrets(
  database: Database,
  { now = () => performance.now() }: { readonly now?: () => number } = {},
): Secrets {
  let last: Read | undefined;

  function read(maxAgeMs: number): Promise<readonly Secret[]> {
    const atMs = now();
    if (last !== undefined && atMs - last.atMs < maxAgeMs) return last.secrets;
    const own: Read = { atMs, secrets: selectSecrets(database) };
    last = own;
    own.secrets.catch(() => {
      if (last === own) last = undefined;
    });
    return own.secrets;
  }

  async function find(number: number): Promise<Secret | undefined> {
    const isIt = (secret: Secret) => secret.number === number;
    return (await read(MAX_AGE_MS)).find(isIt) ?? (await read(MIN_AGE_MS)).find(isIt);
  }

  return { newest: async () => (await read(MAX_AGE_MS))[0], find };
}

async function selectSecrets(database: Database): Promise<readonly Secret[]> {
  try {
    const rows = await database.run<{ number: string; secret: string }>(
      (sql) =>
        sql`select s.number::text as number, pg_catalog.encode(s.secret, 'hex') as secret
          from rowgate.secrets s order by s.number desc limit ${String(MAX_SECRETS)}::text::int8`,
      { write: false },
    );
    return await Promise.all(rows.map(async ({ number, secret }) => ({
      number: Number(number),
      key: await crypto.subtle.importKey("raw", parseHex(secret), "HKDF", false, [
        "deriveKey",
        "deriveBits",
      ]),
      keys: new Map(),
    })));
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

/** Reports whether the schema is of an earlier version, or the role may not read the secrets. */
function isMissing(error: unknown): boolean {
  return error instanceof DatabaseError && (error.kind === "stale" || error.kind === "permission");
}

function parseHex(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(text.match(/../g) ?? [], (digits) => parseInt(digits, 16));
}
