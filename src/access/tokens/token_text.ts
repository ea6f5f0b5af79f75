import { sha256 } from "../../basics/text/sha256.ts";

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
export function mintToken(): MintedToken {
  const id = encodeBase62(randomBytes(ID_BYTES), ID_CHARACTERS);
  const body = `rg_${id}_${encodeBase62(randomBytes(SECRET_BYTES), SECRET_CHARACTERS)}`;
  const token = body + checksum(body);
  return { id, token, digest: digest(token) };
}

/** Returns the id of a text with the form and checksum of a token; undefined for any other text. */
export function checkToken(text: string): string | undefined {
  const parts = TOKEN_PATTERN.exec(text);
  if (parts === null) return undefined;
  const end = text.length - CHECKSUM_CHARACTERS;
  return text.slice(end) === checksum(text.slice(0, end)) ? parts[1] : undefined;
}

/** Returns the SHA-256 of a token in hex. The database stores only this. */
export function digest(token: string): string {
  return sha256(token);
}

function checksum(body: string): string {
  return printBase62(BigInt(`0x${sha256(body)}`), SECRET_CHARACTERS).slice(0, CHECKSUM_CHARACTERS);
}

/** Prints random bytes as one number in base 62, so that all characters are equally likely. */
function encodeBase62(bytes: Uint8Array, characters: number): string {
  return printBase62(bytes.reduce((number, byte) => number * 256n + BigInt(byte), 0n), characters);
}

function printBase62(number: bigint, characters: number): string {
  let rest = number;
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
