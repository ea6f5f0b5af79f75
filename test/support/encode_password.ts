import { createHash, createHmac, pbkdf2Sync, randomBytes } from "node:crypto";

/**
 * Encodes a password as Postgres stores it, for `alter role … password`, but hashed once where Postgres
 * hashes it 4096 times. For each session a client does so again, which was most of what one cost it.
 */
export function encodePassword(password: string): string {
  const salt = randomBytes(16);
  const salted = pbkdf2Sync(password, salt, 1, 32, "sha256");
  const sign = (text: string) => createHmac("sha256", salted).update(text).digest();
  const stored = createHash("sha256").update(sign("Client Key")).digest();
  const keys = [stored, sign("Server Key")].map((key) => key.toString("base64"));
  return `SCRAM-SHA-256$1:${salt.toString("base64")}$${keys.join(":")}`;
}
