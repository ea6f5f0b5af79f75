import { ApiError } from "../errors/api_error.ts";
import type { Database } from "../postgres/database.ts";
import { decodeBase64Url, encodeBase64Url } from "./base64_url.ts";
import { openSecrets, type Secret } from "./secrets.ts";

/** What a cursor is for, and what it is bound to: it opens for nothing else. */
export interface CursorUse {
  /** One kind of cursor is never taken for another. */
  readonly kind: "page" | "changes";
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
/** Version (1 byte), number of the secret (4), salt (16); then the sealed payload. */
const HEADER_BYTES = 21;
const SALT_START = 5;
/** What AES-GCM adds to a payload. */
const TAG_BYTES = 16;
/** Each key seals one payload, so the nonce of AES-GCM may be the same each time. */
const NONCE = new Uint8Array(12);

const UTF_8 = new TextEncoder();

/** Opens the cursors of a database. */
export function openCursors(
  database: Database,
  options: { readonly now?: () => number } = {},
): Cursors {
  const secrets = openSecrets(database, options);

  async function seal(payload: string, use: CursorUse): Promise<string> {
    const secret = await secrets.newest();
    if (secret === undefined) throw rejectUnavailable();
    const header = new Uint8Array(HEADER_BYTES);
    header[0] = VERSION;
    new DataView(header.buffer).setUint32(1, secret.number);
    crypto.getRandomValues(header.subarray(SALT_START));
    const key = await deriveKey(secret, header, use);
    const sealed = await crypto.subtle.encrypt(gcm(use), key, UTF_8.encode(payload));
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
    const key = await deriveKey(secret, cursor.subarray(0, HEADER_BYTES), use);
    try {
      const payload = await crypto.subtle.decrypt(gcm(use), key, cursor.subarray(HEADER_BYTES));
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

/**
 * A key of its own for each cursor. With one key for all, the random nonces of AES-GCM may repeat after
 * some 2^32 cursors.
 */
function deriveKey(
  { key }: Secret,
  header: Uint8Array<ArrayBuffer>,
  { kind }: CursorUse,
): Promise<CryptoKey> {
  const salt = header.subarray(SALT_START);
  const info = UTF_8.encode(`rowgate cursor: ${kind}`);
  return crypto.subtle.deriveKey(
    { name: "HKDF", hash: "SHA-256", salt, info },
    key,
    { name: "AES-GCM", length: 256 },
    false,
    ["encrypt", "decrypt"],
  );
}

/** What a cursor is bound to is authenticated with it. */
function gcm({ boundTo }: CursorUse): AesGcmParams {
  return { name: "AES-GCM", iv: NONCE, additionalData: UTF_8.encode(JSON.stringify(boundTo)) };
}
