/** Collects bytes; `bytes` and `at` change with every `reserve`. */
export interface ByteWriter {
  bytes: Uint8Array<ArrayBuffer>;
  /** Where the next byte goes. */
  at: number;
  /** Memory of chunks that is not in use. */
  readonly spare: Uint8Array<ArrayBuffer>[];
}

/** Usual size of a chunk. */
export const CHUNK_BYTES = 65_536;

/** Opens a writer with nothing in it. */
export function openByteWriter(): ByteWriter {
  return { bytes: new Uint8Array(CHUNK_BYTES), at: 0, spare: [] };
}

/** Makes room for so many more bytes. */
export function reserve(writer: ByteWriter, length: number): void {
  const { bytes, at } = writer;
  if (at + length <= bytes.length) return;
  const larger = new Uint8Array(Math.max(at + length, 2 * bytes.length));
  larger.set(bytes.subarray(0, at));
  writer.bytes = larger;
}

/** Returns the written bytes and empties the writer; undefined if there are none. */
export function takeBytes(writer: ByteWriter): Uint8Array<ArrayBuffer> | undefined {
  if (writer.at === 0) return undefined;
  const taken = writer.bytes.subarray(0, writer.at);
  writer.bytes = writer.spare.pop() ?? new Uint8Array(CHUNK_BYTES);
  writer.at = 0;
  return taken;
}

/** Uses the memory of taken bytes again, unless a long row has made it larger. */
export function reuseBytes(writer: ByteWriter, { buffer }: Uint8Array<ArrayBuffer>): void {
  if (buffer.byteLength === CHUNK_BYTES) writer.spare.push(new Uint8Array(buffer));
}

/** A range of bytes. */
export interface ByteRange {
  readonly bytes: Uint8Array;
  readonly start: number;
  readonly end: number;
}

/**
 * Values up to this size are copied in a loop: calling the runtime costs as much as copying about 30
 * bytes.
 */
const COPIED_BYTES = 64;

/** Writes bytes; the room must have been reserved. */
export function writeBytes(writer: ByteWriter, value: Uint8Array): void {
  const { bytes, at } = writer;
  const { length } = value;
  if (length > COPIED_BYTES) bytes.set(value, at);
  else for (let place = 0; place < length; place++) bytes[at + place] = value[place]!;
  writer.at = at + length;
}

/** Writes a range of bytes; the room must have been reserved. */
export function writeRange(writer: ByteWriter, { bytes: source, start, end }: ByteRange): void {
  const { bytes, at } = writer;
  const length = end - start;
  if (length > COPIED_BYTES) bytes.set(source.subarray(start, end), at);
  else for (let place = 0; place < length; place++) bytes[at + place] = source[start + place]!;
  writer.at = at + length;
}
