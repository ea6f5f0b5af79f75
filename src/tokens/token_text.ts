/** A new token, and what the database keeps of it. */
export interface MintedToken {
  /** What logs and lists show. */
  readonly id: string;
  /** The secret, shown once. */
  readonly token: string;
  /** SHA-256 of the token, in hex. */
  readonly digest: string;
}

const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const BASE = 62n;
const ID_BYTES = 8;
const ID_CHARACTERS = 11;
const SECRET_BYTES = 32;
const SECRET_CHARACTERS = 43;
const CHECKSUM_CHARACTERS = 6;

const TOKEN_PATTERN = new RegExp(
  `^rg_([0-9A-Za-z]{${ID_CHARACTERS}})_[0-9A-Za-z]{${SECRET_CHARACTERS + CHECKSUM_CHARACTERS}}$`,
);

/**
 * Mints a token: `rg_` + id + `_` + 256 random bits in base62 + a checksum of all before it.
 * @see A21
 */
export async function mintToken(): Promise<MintedToken> {
  const id = encodeBase62(randomBytes(ID_BYTES), ID_CHARACTERS);
  const body = `rg_${id}_${encodeBase62(randomBytes(SECRET_BYTES), SECRET_CHARACTERS)}`;
  const token = body + await checksum(body);
  return { id, token, digest: await digest(token) };
}

/** Returns the id of a text with the form and checksum of a token; undefined for any other text. */
export async function checkToken(text: string): Promise<string | undefined> {
  const parts = TOKEN_PATTERN.exec(text);
  if (parts === null) return undefined;
  const end = text.length - CHECKSUM_CHARACTERS;
  return text.slice(end) === await checksum(text.slice(0, end)) ? parts[1] : undefined;
}

/** Returns the SHA-256 of a token in hex. The database stores only this. */
export async function digest(token: string): Promise<string> {
  const bytes = await hash(token);
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

async function checksum(body: string): Promise<string> {
  return encodeBase62(await hash(body), SECRET_CHARACTERS).slice(0, CHECKSUM_CHARACTERS);
}

async function hash(text: string): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));
}

/** Encodes the bytes as one number in base 62, so that all characters are equally likely. */
function encodeBase62(bytes: Uint8Array, characters: number): string {
  let rest = bytes.reduce((number, byte) => number * 256n + BigInt(byte), 0n);
  let text = "";
  for (let place = 0; place < characters; place++) {
    text = ALPHABET[Number(rest % BASE)] + text;
    rest /= BASE;
  }
  return text;
}

function randomBytes(count: number): Uint8Array {
  return crypto.getRandomValues(new Uint8Array(count));
}
