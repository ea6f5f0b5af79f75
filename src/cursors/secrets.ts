import type { Database } from "../postgres/database.ts";
import { DatabaseError } from "../postgres/database_error.ts";

/** How long the secrets are used before they are read again. */
const MAX_AGE_MS = 60_000;
/** How often an unknown number may cause them to be read again: anyone can make one up. */
const MIN_AGE_MS = 1000;
/** Secrets that are read: the newest seals, and those before it still open. */
const MAX_SECRETS = 16;

/** A secret of the schema `rowgate`, from which keys are derived. */
export interface Secret {
  readonly number: number;
  readonly key: CryptoKey;
  /** The keys that were derived from it, by what they are for. */
  readonly keys: Map<string, Promise<CryptoKey>>;
}

/** The secrets of a database: the same on every instance and worker, also after a restart. */
export interface Secrets {
  /**
   * The newest one; undefined where the role may not read them, or the schema has none yet.
   * @throws {DatabaseError} when the database cannot be asked
   */
  readonly newest: () => Promise<Secret | undefined>;
  /** The one with a number. @throws {DatabaseError} */
  readonly find: (number: number) => Promise<Secret | undefined>;
}

/** The secrets as they were read at one time. */
interface Read {
  readonly atMs: number;
  readonly secrets: Promise<readonly Secret[]>;
}

/**
 * Opens the secrets of a database. They are kept in this process for a minute, so that a new one is
 * used within a minute everywhere; one that is not known yet is looked up at once.
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
      key: await crypto.subtle.importKey("raw", parseHex(secret), "HKDF", false, ["deriveKey"]),
      keys: new Map(),
    })));
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

/** The schema is of an earlier version, or the role has no right to read them. */
function isMissing(error: unknown): boolean {
  return error instanceof DatabaseError && (error.kind === "stale" || error.kind === "permission");
}

function parseHex(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(text.match(/../g) ?? [], (digits) => parseInt(digits, 16));
}
