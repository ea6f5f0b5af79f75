import { parseHeaderList } from "./header_list.ts";

/** Below this a compressed answer saves no packet. */
const MIN_COMPRESSED_CHARACTERS = 1024;

/** Tells whether an answer is long enough that its form depends on `Accept-Encoding`. */
export function isCompressible(text: string): boolean {
  return text.length >= MIN_COMPRESSED_CHARACTERS;
}

/**
 * Tells whether a client takes gzip: named, or by `*`, with a weight other than 0.
 * @see H5
 */
export function acceptsGzip(acceptEncoding: string | null): boolean {
  if (acceptEncoding === null) return false;
  const items = parseHeaderList(acceptEncoding);
  const chosen = items.find(({ name }) => /^(x-)?gzip$/i.test(name)) ??
    items.find(({ name }) => name === "*");
  return chosen !== undefined && Number(chosen.parameters.get("q") ?? 1) > 0;
}

/** Gives a text as a stream of gzip bytes. */
export function compress(text: string): ReadableStream<Uint8Array> {
  return zip(new Blob([text]).stream());
}

/** Compresses a stream. */
export function zip(bytes: ReadableStream<Uint8Array<ArrayBuffer>>): ReadableStream<Uint8Array> {
  return bytes.pipeThrough(new CompressionStream("gzip"));
}

/** Gives what gzip bytes, or a stream of them, hold. */
export function decompress(
  bytes: Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array<ArrayBuffer>>,
): ReadableStream<Uint8Array> {
  const stream = bytes instanceof ReadableStream ? bytes : new Blob([bytes]).stream();
  return stream.pipeThrough(new DecompressionStream("gzip"));
}
