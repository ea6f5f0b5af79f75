/** A key pair and the certificate made for it, as PEM. */
export interface Certificate {
  readonly name: string;
  readonly keys: CryptoKeyPair;
  readonly certificate: string;
  readonly key: string;
}

/** What a certificate is for: an authority, or a server with its names. */
export interface CertificateOptions {
  readonly name: string;
  /** Signs; the certificate itself when left out. */
  readonly issuer?: Certificate;
  /** Host names of a server; without any it is an authority's. */
  readonly hosts?: readonly string[];
  /** Addresses (IPv4) of a server. */
  readonly addresses?: readonly string[];
  /** The year until which it is valid, at its beginning; ten years from now when left out. */
  readonly untilYear?: number;
}

const [INTEGER, BITS, OCTETS, OBJECT, TEXT, TIME, SEQUENCE, SET] = [2, 3, 4, 6, 12, 24, 48, 49];
const [ECDSA_SHA256, COMMON_NAME] = ["2a8648ce3d040302", "550403"];
const [BASIC_CONSTRAINTS, ALTERNATIVE_NAMES] = ["551d13", "551d11"];
const ALGORITHM = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };

/** Makes a key and a certificate in X.509, without a program that would have to be installed. */
export async function makeCertificate(options: CertificateOptions): Promise<Certificate> {
  const { name, issuer, hosts = [], addresses = [] } = options;
  const keys = await crypto.subtle.generateKey(ALGORITHM, true, ["sign", "verify"]);
  const untilYear = options.untilYear ?? new Date().getUTCFullYear() + 10;
  const alternatives = [
    ...hosts.map((host) => encode(0x82, ascii(host))),
    ...addresses.map((address) => encode(0x87, Uint8Array.from(address.split("."), Number))),
  ];
  const extension = alternatives.length === 0
    ? encode(SEQUENCE, object(BASIC_CONSTRAINTS), flag(true), octets(encode(SEQUENCE, flag(true))))
    : encode(SEQUENCE, object(ALTERNATIVE_NAMES), octets(encode(SEQUENCE, ...alternatives)));
  const signature = encode(SEQUENCE, object(ECDSA_SHA256));
  const body = encode(
    SEQUENCE,
    encode(0xa0, encode(INTEGER, Uint8Array.of(2))),
    encode(INTEGER, Uint8Array.of(1, ...crypto.getRandomValues(new Uint8Array(8)))),
    signature,
    commonName(issuer?.name ?? name),
    encode(SEQUENCE, time(2020), time(untilYear)),
    commonName(name),
    new Uint8Array(await crypto.subtle.exportKey("spki", keys.publicKey)),
    encode(0xa3, encode(SEQUENCE, extension)),
  );
  const signer = (issuer?.keys ?? keys).privateKey;
  const raw = new Uint8Array(await crypto.subtle.sign(ALGORITHM, signer, body));
  const signed = encode(SEQUENCE, number(raw.subarray(0, 32)), number(raw.subarray(32)));
  const whole = encode(SEQUENCE, body, signature, encode(BITS, Uint8Array.of(0), signed));
  const secret = new Uint8Array(await crypto.subtle.exportKey("pkcs8", keys.privateKey));
  return { name, keys, certificate: pem("CERTIFICATE", whole), key: pem("PRIVATE KEY", secret) };
}

/** One value of DER: its tag, its length, and what it is made of. */
function encode(tag: number, ...parts: readonly Uint8Array<ArrayBuffer>[]) {
  const content = parts.flatMap((part) => [...part]);
  const size = content.length;
  if (size < 128) return Uint8Array.of(tag, size, ...content);
  if (size < 256) return Uint8Array.of(tag, 0x81, size, ...content);
  return Uint8Array.of(tag, 0x82, size >> 8, size & 255, ...content);
}

function object(hexadecimal: string) {
  return encode(OBJECT, Uint8Array.from(hexadecimal.match(/../g)!, (byte) => parseInt(byte, 16)));
}

function commonName(text: string) {
  const pair = encode(SEQUENCE, object(COMMON_NAME), encode(TEXT, ascii(text)));
  return encode(SEQUENCE, encode(SET, pair));
}

function flag(value: boolean) {
  return Uint8Array.of(1, 1, value ? 255 : 0);
}

function octets(content: Uint8Array<ArrayBuffer>) {
  return encode(OCTETS, content);
}

function time(year: number) {
  return encode(TIME, ascii(`${year}0101000000Z`));
}

/** A number has no zeros at its beginning but the one that says that it is not negative. */
function number(bytes: Uint8Array) {
  const digits = [...bytes];
  while (digits.length > 1 && digits[0] === 0) digits.shift();
  return encode(INTEGER, Uint8Array.of(...(digits[0]! > 127 ? [0] : []), ...digits));
}

function ascii(text: string) {
  return new TextEncoder().encode(text);
}

function pem(label: string, content: Uint8Array): string {
  const lines = btoa(String.fromCharCode(...content)).match(/.{1,64}/g)!;
  return `-----BEGIN ${label}-----\n${lines.join("\n")}\n-----END ${label}-----\n`;
}
