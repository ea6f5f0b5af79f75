const SECRET_BYTES = 32;
const ID_BYTES = 16;
const PREFIX = "whsec_";
const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/**
 * Mints the secret of a webhook: 256 random bits in base64 after `whsec_`, the format of Standard
 * Webhooks.
 * @see WH10
 */
export function mintSecret(): string {
  return `${PREFIX}${toBase64(crypto.getRandomValues(new Uint8Array(SECRET_BYTES)))}`;
}

/** Mints the id of a webhook (`wh`) or of a message (`msg`), which logs and lists show. */
export function mintWebhookId(prefix: "wh" | "msg"): string {
  const letters: string[] = [];
  // 248 is the largest multiple of 62 in a byte: no letter is likelier than another.
  while (letters.length < ID_BYTES) {
    const [byte = 0] = crypto.getRandomValues(new Uint8Array(1));
    if (byte < 248) letters.push(ALPHABET[byte % ALPHABET.length]!);
  }
  return `${prefix}_${letters.join("")}`;
}

/** The signed content: the id of a message, the time of the attempt, and the body as it is sent. */
export interface SignedMessage {
  readonly id: string;
  /** Seconds since 1970. */
  readonly timestamp: number;
  readonly body: string;
}

/**
 * Returns the headers of a delivery as in Standard Webhooks, with an HMAC-SHA256 over id, time and
 * body.
 * @see WH11
 */
export async function signMessage(
  secret: string,
  { id, timestamp, body }: SignedMessage,
): Promise<Readonly<Record<string, string>>> {
  const bytes = Uint8Array.from(atob(secret.slice(PREFIX.length)), (each) => each.charCodeAt(0));
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const key = await crypto.subtle.importKey("raw", bytes, algorithm, false, ["sign"]);
  const signed = new TextEncoder().encode(`${id}.${timestamp}.${body}`);
  const signature = new Uint8Array(await crypto.subtle.sign("HMAC", key, signed));
  return {
    "webhook-id": id,
    "webhook-timestamp": String(timestamp),
    "webhook-signature": `v1,${toBase64(signature)}`,
  };
}

function toBase64(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes));
}
