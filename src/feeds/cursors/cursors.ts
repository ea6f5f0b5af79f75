import { ApiError } from "../../basics/errors/api_error.ts";
import type { Database } from "../../database/postgres/database.ts";
import { decodeBase64Url, encodeBase64Url } from "./base64_url.ts";
import { openSecrets, type Secret } from "./secrets.ts";

/** The purpose of a cursor and what it is bound to. It opens for nothing else. */
export interface CursorUse {
  /** One kind of cursor is never taken for another. */
  readonly kind: "page" | "changes" | "position";
  /** The tenant first, and then whatever else must be the same when the cursor comes back. */
  readonly boundTo: readonly string[];
}

/**
 * Seals and opens cursors: texts that clients send back to continue. They are encrypted and signed by
 * AES-GCM, so no client can read, make or change one. They consist of letters, digits, `-` and `_`,
 * for URLs.
 * @see docs/decisions/0049-cursors-and-feeds.md
 */
export interface Cursors {
  /**
   * Reports whether cursors can be sealed: not if the schema `rowgate` is of an earlier version, or
   * the role may not read `rowgate.secrets`.
   * @throws {DatabaseError} if the database is unavailable
   */
  readonly available: () => Promise<boolean>;
  /**
   * Seals a payload.
   * @throws {ApiError} 503 if cursors are not available
   * @throws {DatabaseError}
   */
  readonly seal: (payload: string, use: CursorUse) => Promise<string>;
  /**
   * Returns the payload of a cursor that was sealed here for the same use; undefined for any other text.
   * @throws {DatabaseError}
   */
  readonly open: (cursor: string, use: CursorUse) => Promise<string | undefined>;
  /**
   * Returns the key by which the versions of rows are digested, as hexadecimal digits; undefined where
   * cursors are not available.
   * @throws {DatabaseError}
   */
  readonly versionKey: () => Promise<string | undefined>;
}

const VERSION = 1;
/** Version (1 byte), number of the secret (4), salt (16), counter (4); then the sealed payload. */
const HEADER_BYTES = 25;
const SALT_START = 5;
const COUNTER_START = 21;
/** Most cursors of one salt: the counter has four bytes. */
const MAX_COUNTER = 0xffff_ffff;
/** Bytes that AES-GCM adds to a payload. */
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

  /** Makes a header that is different each time. */
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
      // Web Crypto throws the same error, whatever is wrong.
      return undefined;
    }
  }

  const available = async () => await secrets.newest() !== undefined;
  return { available, seal, open, versionKey: async () => findVersionKey(await secrets.newest()) };
}

const VERSION_KEYS = new WeakMap<Secret, Promise<string>>();
const VERSION_KEY_BITS = 128;

function findVersionKey(secret: Secret | undefined): Promise<string> | undefined {
  if (secret === undefined) return undefined;
  const known = VERSION_KEYS.get(secret);
  if (known !== undefined) return known;
  const info = UTF_8.encode("rowgate version of a row");
  const parameters = { name: "HKDF", hash: "SHA-256", salt: new Uint8Array(), info };
  const key = crypto.subtle.deriveBits(parameters, secret.key, VERSION_KEY_BITS).then(printHex);
  VERSION_KEYS.set(secret, key);
  return key;
}

function printHex(bits: ArrayBuffer): string {
  return Array.from(new Uint8Array(bits), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function rejectUnavailable(): ApiError {
  return new ApiError(503, "The service is not ready", { headers: { "Retry-After": "1" } });
}

/** Cached keys of one secret; each process that seals cursors has its own. */
const MAX_KEYS = 64;

/**
 * Finds the key of a salt. Each process has its own salt, so the nonces of a key can be counted and
 * never repeat. With one key for all processes they would have to be random, and might repeat after
 * some 2^32 cursors.
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

/** The parameters of AES-GCM. It also authenticates what a cursor is bound to. */
function gcm(header: Uint8Array<ArrayBuffer>, { boundTo }: CursorUse): AesGcmParams {
  const iv = new Uint8Array(NONCE_BYTES);
  iv.set(header.subarray(COUNTER_START));
  return { name: "AES-GCM", iv, additionalData: UTF_8.encode(JSON.stringify(boundTo)) };
}
