import { ApiError } from "../errors/api_error.ts";
import type { Database } from "../postgres/database.ts";
import { decodeBase64Url, encodeBase64Url } from "./base64_url.ts";
import { openSecrets, type Secret } from "./secrets.ts";

/** What a cursor is for, and what it is bound to: it opens for nothing else. */
export interface CursorUse {
  /** One kind of cursor is never taken for another. */
  readonly kind: "page" | "changes" | "position";
  /** In order: the tenant first, and whatever else must be the same when the cursor comes back. */
  readonly boundTo: readonly string[];
}

/**
 * Seals and opens cursors: texts that a client is given to come back with. A cursor is for URLs: letters,
 * digits, `-` and `_`. No client can read, make or change one.
 * @see docs/decisions/0049-cursors.md
 */
export interface Cursors {
  /**
   * Reports whether cursors can be sealed here: not on a schema `rowgate` of an earlier version, or where
   * the role may not read `rowgate.secrets`.
   * @throws {DatabaseError} when the database cannot be asked
   */
  readonly available: () => Promise<boolean>;
  /**
   * Seals a payload.
   * @throws {ApiError} 503 where cursors are not available
   * @throws {DatabaseError}
   */
  readonly seal: (payload: string, use: CursorUse) => Promise<string>;
  /**
   * Returns the payload of a cursor that was sealed here for the same use; undefined for any other text.
   * @throws {DatabaseError}
   */
  readonly open: (cursor: string, use: CursorUse) => Promise<string | undefined>;
}

const VERSION = 1;
/** Version (1 byte), number of the secret (4), salt (16), counter (4); then the sealed payload. */
const HEADER_BYTES = 25;
const SALT_START = 5;
const COUNTER_START = 21;
/** Cursors of one salt at most: the counter has four bytes. */
const MAX_COUNTER = 0xffff_ffff;
/** What AES-GCM adds to a payload. */
const TAG_BYTES = 16;
const NONCE_BYTES = 12;

const UTF_8 = new TextEncoder();

/** Opens the cursors of a database. */
export function openCursors(
  database: Database,
  options: { readonly now?: () => number } = {},
): Cursors {
  const secrets = openSecrets(database, options);
  const salt = new Uint8Array(COUNTER_START - SALT_START);
  let counter = MAX_COUNTER;

  /** Makes a header that was never made before. */
  function makeHeader({ number }: Secret): Uint8Array<ArrayBuffer> {
    if (counter === MAX_COUNTER) {
      crypto.getRandomValues(salt);
      counter = 0;
    }
    const header = new Uint8Array(HEADER_BYTES);
    const view = new DataView(header.buffer);
    header[0] = VERSION;
    view.setUint32(1, number);
    header.set(salt, SALT_START);
    view.setUint32(COUNTER_START, ++counter);
    return header;
  }

  async function seal(payload: string, use: CursorUse): Promise<string> {
    const secret = await secrets.newest();
    if (secret === undefined) throw rejectUnavailable();
    const header = makeHeader(secret);
    const key = await findKey(secret, header, use);
    const sealed = await crypto.subtle.encrypt(gcm(header, use), key, UTF_8.encode(payload));
    const cursor = new Uint8Array(HEADER_BYTES + sealed.byteLength);
    cursor.set(header);
    cursor.set(new Uint8Array(sealed), HEADER_BYTES);
    return encodeBase64Url(cursor);
  }

  async function open(text: string, use: CursorUse): Promise<string | undefined> {
    const cursor = decodeBase64Url(text);
    if (cursor === undefined || cursor.length < HEADER_BYTES + TAG_BYTES) return undefined;
    if (cursor[0] !== VERSION) return undefined;
    const secret = await secrets.find(new DataView(cursor.buffer).getUint32(1));
    if (secret === undefined) return undefined;
    const header = cursor.subarray(0, HEADER_BYTES);
    const key = await findKey(secret, header, use);
    const sealed = cursor.subarray(HEADER_BYTES);
    try {
      const payload = await crypto.subtle.decrypt(gcm(header, use), key, sealed);
      return new TextDecoder().decode(payload);
    } catch {
      // Web Crypto gives one error, whatever is wrong with it.
      return undefined;
    }
  }

  return { available: async () => await secrets.newest() !== undefined, seal, open };
}

function rejectUnavailable(): ApiError {
  return new ApiError(503, "The service is not ready", { headers: { "Retry-After": "1" } });
}

/** Keys that are kept of one secret: each process that seals has one. */
const MAX_KEYS = 64;

/**
 * Finds the key of a salt, which every process has its own of: the nonces of one key, which are counted,
 * are never the same. With one key for all processes they would have to be random, and might repeat
 * after some 2^32 cursors.
 */
function findKey(
  { key: secret, keys }: Secret,
  header: Uint8Array<ArrayBuffer>,
  { kind }: CursorUse,
): Promise<CryptoKey> {
  const salt = header.slice(SALT_START, COUNTER_START);
  const name = `${kind} ${salt}`;
  const known = keys.get(name);
  if (known !== undefined) return known;
  const [oldest] = keys.keys();
  if (keys.size >= MAX_KEYS) keys.delete(oldest!);
  const key = crypto.subtle.deriveKey(
    { name: "HKDF", hash: "SHA-256", salt, info: UTF_8.encode(`rowgate cursor: ${kind}`) },
    secret,
    { name: "AES-GCM", length: 256 },
    false,
    ["encrypt", "decrypt"],
  );
  keys.set(name, key);
  return key;
}

/** What a cursor is bound to is authenticated with it. */
function gcm(header: Uint8Array<ArrayBuffer>, { boundTo }: CursorUse): AesGcmParams {
  const iv = new Uint8Array(NONCE_BYTES);
  iv.set(header.subarray(COUNTER_START));
  return { name: "AES-GCM", iv, additionalData: UTF_8.encode(JSON.stringify(boundTo)) };
}
