import { sha256 as hash } from "@noble/hashes/sha2.js";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";

/**
 * Returns the SHA-256 of a short text in UTF-8, as 64 hexadecimal digits. It is much faster for a token
 * than {@link sha256OfLong}.
 * @see docs/decisions/0011-tokens.md
 */
export function sha256(text: string): string {
  return bytesToHex(hash(utf8ToBytes(text)));
}

/** The same by Web Crypto, on another thread: faster for a text of 10 kB or more. */
export async function sha256OfLong(text: string): Promise<string> {
  const bytes = new TextEncoder().encode(text);
  return bytesToHex(new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)));
}
