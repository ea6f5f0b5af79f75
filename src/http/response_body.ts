import { ApiError } from "../basics/errors/api_error.ts";
import { IS_BUN } from "../server/runtime/adapter.ts";
import { onNextTick } from "../server/runtime/timers.ts";
import type { ByteBudget } from "./byte_budget.ts";
import { parseHeaderList } from "./header_list.ts";
import type { HeldBytes } from "./room.ts";

/**
 * Up to this length, head and body are always less than the 16 kB that Bun collects before it writes.
 */
const BUN_STREAMED_CHARACTERS = 5000;
/** UTF-8 takes at most this many bytes for a UTF-16 unit. */
const MAX_BYTES_PER_CHARACTER = 3;

/** What Bun's streams accept besides bytes: a text, which it encodes as it writes it. */
interface DirectController {
  readonly write: (text: string) => void;
  readonly close: () => void;
}

/**
 * Makes the body of a response from a text. If a text is longer, Bun (1.4) writes its head in about
 * thirty pieces, one for each name, colon, value and line end, and each is a packet that wakes the
 * client. A stream that is complete before Bun begins to write goes out together with its head, with
 * a `Content-Length`.
 * @see docs/decisions/0035-runtimes.md
 */
export function makeBody(text: string): BodyInit {
  if (!IS_BUN || text.length < BUN_STREAMED_CHARACTERS) return text;
  const source = {
    type: "direct",
    pull(controller: DirectController) {
      controller.write(text);
      controller.close();
    },
  };
  return new ReadableStream(source as unknown as UnderlyingDefaultSource<Uint8Array>, {
    highWaterMark: MAX_BYTES_PER_CHARACTER * text.length,
  });
}

/** Compressing a shorter body would not save a packet. */
const MIN_COMPRESSED_CHARACTERS = 1024;

/** Reports whether a body is so long that its form depends on `Accept-Encoding`. */
export function isCompressible(text: string): boolean {
  return text.length >= MIN_COMPRESSED_CHARACTERS;
}

/**
 * Reports whether a client accepts gzip: by name, or by `*`, with a weight other than 0.
 * @see H5
 */
export function acceptsGzip(acceptEncoding: string | null): boolean {
  if (acceptEncoding === null) return false;
  const items = parseHeaderList(acceptEncoding);
  const chosen = items.find(({ name }) => /^(x-)?gzip$/i.test(name)) ??
    items.find(({ name }) => name === "*");
  return chosen !== undefined && Number(chosen.parameters.get("q") ?? 1) > 0;
}

/** Returns a text as a stream of gzip bytes. */
export function compress(text: string): ReadableStream<Uint8Array> {
  return zip(new Blob([text]).stream());
}

/** Compresses a stream. */
export function zip(bytes: ReadableStream<Uint8Array<ArrayBuffer>>): ReadableStream<Uint8Array> {
  return bytes.pipeThrough(new CompressionStream("gzip"));
}

/** Decompresses gzip bytes, or a stream of them. */
export function decompress(
  bytes: Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array<ArrayBuffer>>,
): ReadableStream<Uint8Array> {
  const stream = bytes instanceof ReadableStream ? bytes : new Blob([bytes]).stream();
  return stream.pipeThrough(new DecompressionStream("gzip"));
}

/** Limits for responses, since clients may not read them. */
export interface Sending {
  /** Memory for bytes that are not sent yet. */
  readonly unsent: ByteBudget;
  /** How long a client may read nothing. */
  readonly timeoutMs: number;
  /** Called when a response was cut off. */
  readonly late: () => void;
}

/** The client of one response. */
export interface Recipient {
  readonly sending: Sending;
  /** Closes the connection; undefined where the runtime itself does so if a body breaks off. */
  readonly cut?: (() => void) | undefined;
  /**
   * Frees bytes that the runtime has taken, or returns true: their memory may be used again. Undefined
   * where garbage collection frees them.
   */
  readonly free?: ((bytes: Uint8Array<ArrayBuffer>) => boolean) | undefined;
  /** Undefined: not known. */
  tenant?: string;
  /** Memory of the events that are being sent. */
  room?: HeldBytes;
  /** Keeps the memory of the request's body for the response, in place of memory of its own. */
  hold?: () => () => void;
}

/** Longer bodies are streamed in slices. A page of 200 ordinary rows is half as long. */
const MAX_WHOLE = 131_072;
/** Bytes that are compressed and sent before other requests get a turn. */
const SLICE_BYTES = 65_536;

/** Reports whether a body of so many characters or bytes is streamed in slices. */
export function isLong(length: number): boolean {
  return length > MAX_WHOLE;
}

const UTF_8 = new TextEncoder();
/** Milliseconds of encoding a long text before other requests get a turn. */
const ENCODE_MS = 1;

/** The bytes of a body in the pieces in which they are sent. */
export type Slices = readonly Uint8Array<ArrayBuffer>[];

/** Counts the bytes of all slices. */
export function measure(slices: Slices): number {
  return slices.reduce((sum, { length }) => sum + length, 0);
}

/**
 * Encodes a long text in slices, and serves other requests in between. The slices are not joined,
 * because that would take as long again, without a pause.
 */
export async function encodeLong(text: string): Promise<Slices> {
  const slices: Uint8Array<ArrayBuffer>[] = [];
  let startedMs = performance.now();
  for (let at = 0, end = 0; at < text.length; at = end) {
    if (performance.now() - startedMs > ENCODE_MS) {
      await new Promise<void>((resolve) => onNextTick(resolve));
      startedMs = performance.now();
    }
    end = at + SLICE_BYTES;
    // A surrogate pair must not be split.
    if (/[\uD800-\uDBFF]/.test(text.charAt(end - 1))) end++;
    slices.push(...cut(UTF_8.encode(text.slice(at, end))));
  }
  return slices;
}

function cut(bytes: Uint8Array<ArrayBuffer>): Slices {
  if (bytes.length <= SLICE_BYTES) return [bytes];
  const pieces = Array.from({ length: Math.ceil(bytes.length / SLICE_BYTES) }, (_, place) => place);
  return pieces.map((place) => bytes.slice(place * SLICE_BYTES, (place + 1) * SLICE_BYTES));
}

/**
 * Streams bytes; each slice is sent after the client has read the previous one, which is freed then
 * where the runtime can do so.
 * @throws {ApiError} 503 too many bytes are being sent already
 * @see docs/decisions/0007-bodies.md
 */
export function streamBytes(
  bytes: Uint8Array<ArrayBuffer> | Slices,
  recipient: Recipient,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  const slices = bytes instanceof Uint8Array ? cut(bytes) : bytes;
  const { sending, cut: cutOff, free, tenant = "", hold } = recipient;
  const release = hold?.() ?? sending.unsent.take(measure(slices), tenant);
  if (release === undefined) throw rejectUnsent(sending.unsent);
  let place = 0;
  let pulledMs = performance.now();
  let timer: ReturnType<typeof setTimeout>;

  function end(): void {
    clearTimeout(timer);
    release!();
  }

  return new ReadableStream({
    start(controller) {
      timer = setTimeout(checkTime, sending.timeoutMs);

      function checkTime(): void {
        const leftMs = pulledMs + sending.timeoutMs - performance.now();
        if (leftMs > 0) timer = setTimeout(checkTime, leftMs);
        else giveUp(controller);
      }
    },
    async pull(controller) {
      pulledMs = performance.now();
      if (place > 0) {
        // Other requests are served between two slices, even if the client reads fast.
        await new Promise<void>((resolve) => onNextTick(resolve));
        free?.(slices[place - 1]!);
      }
      controller.enqueue(slices[place++]!);
      if (place < slices.length) return;
      controller.close();
      end();
    },
    cancel: end,
  }, { highWaterMark: 0 });

  function giveUp(controller: ReadableStreamDefaultController): void {
    end();
    sending.late();
    // Node's server would end the response as if it were complete, with the text of the error in it.
    if (cutOff !== undefined) cutOff();
    // Deno prints the reason; Bun does too, unless it is undefined.
    else {controller.error(
        IS_BUN ? undefined : "A response was cut off: its client did not read it",
      );}
  }
}

function rejectUnsent({ max }: ByteBudget): ApiError {
  const message = `Too many long responses are still being sent, at most ${max} bytes at once, ` +
    "try again in a second";
  return new ApiError(503, message, { headers: { "Retry-After": "1" } });
}
