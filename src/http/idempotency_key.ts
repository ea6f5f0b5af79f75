import { ApiError } from "../basics/errors/api_error.ts";
import { quote } from "../basics/errors/issue.ts";
import { MAX_IDEMPOTENCY_KEY_CHARACTERS } from "../basics/errors/limits.ts";
import { sha256OfLong } from "../basics/text/sha256.ts";

/** The header, in the spelling of messages. */
const NAME = "Idempotency-Key";
/** A string of RFC 8941: printable ASCII in double quotes, these and backslashes escaped. */
const STRING = /^"((?:[ !#-[\]-~]|\\["\\])*)"$/;

/**
 * Reads the idempotency key of a request; undefined where it has none.
 * @throws {ApiError} 400 it is not one string in double quotes, of 1 to 255 characters
 * @see IK1, IK2
 */
export function readIdempotencyKey({ headers }: Request): string | undefined {
  const header = headers.get("idempotency-key");
  if (header === null) return undefined;
  // Each character of the key may be escaped, which takes two.
  const isLong = header.length > 2 * MAX_IDEMPOTENCY_KEY_CHARACTERS + 2;
  const key = isLong ? undefined : STRING.exec(header.trim())?.[1]?.replace(/\\(.)/g, "$1");
  if (key !== undefined && key !== "" && key.length <= MAX_IDEMPOTENCY_KEY_CHARACTERS) return key;
  const expected = `expected a string of 1 to ${MAX_IDEMPOTENCY_KEY_CHARACTERS} characters ` +
    'in double quotes, such as "8e03978e-40d5-43dd-bc93-6894a57f9324"';
  throw new ApiError(400, `${NAME}: ${quote(header)} is not a key, ${expected}`);
}

/** The parts that must be equal for two requests with the same key to be the same request. */
export interface RequestParts {
  readonly tenant: string;
  readonly operation: string;
  readonly schema: string;
  readonly table: string;
  /** The preferences that were applied. */
  readonly preferences: string | undefined;
  /** Exactly as it was sent, since a response may quote any part of it. */
  readonly body: string;
}

/** A longer body is digested here; Postgres digests a short one faster than Web Crypto starts. */
const MAX_PLAIN_CHARACTERS = 4096;

/** Returns a text of bounded length that identifies a request. @see IK8 */
export async function nameRequest(
  { tenant, operation, schema, table, preferences, body }: RequestParts,
): Promise<string> {
  const isLong = body.length > MAX_PLAIN_CHARACTERS;
  const named = isLong ? await sha256OfLong(body) : body;
  return JSON.stringify([tenant, operation, schema, table, preferences, isLong, named]);
}
