import type { Config } from "../server/config/config.ts";
import { ApiError } from "../basics/errors/api_error.ts";
import { quote } from "../basics/errors/issue.ts";
import { IS_BUN, IS_DENO } from "../server/runtime/adapter.ts";
import { type BodyReader, discardBody } from "../server/runtime/linger.ts";
import { startDeadline } from "../server/runtime/timers.ts";
import type { ByteBudget } from "./byte_budget.ts";
import { parseHeaderList } from "./header_list.ts";
import type { Exchange } from "./respond.ts";

/** Limits of a body. */
export interface BodyLimits {
  readonly maxBytes: number;
  /** Until the whole body has arrived. */
  readonly timeoutMs: number;
  /** Reserves memory before a body of more than 16 KiB is read. */
  readonly enter?: (bytes: number) => Promise<void>;
}

/** The body of one request, and the memory that it takes until the request has its response. */
export interface Body {
  /**
   * Returns its text, which is read once.
   * @throws {ApiError} 503 too many bodies are being read; 415, 413, 408, 400 as {@link readBody}
   */
  readonly read: () => Promise<string>;
  readonly release: () => void;
}

/** Limits of the bodies of a service. */
export interface OpenBodyOptions {
  readonly config: Config;
  readonly bodies: ByteBudget;
  /** True: the request writes records. */
  readonly writes?: boolean;
}

/** Opens the body of a tenant's request. It is read later, once the table and the token allow it. */
export function openBody(
  exchange: Exchange,
  tenant: string,
  { config, bodies, writes }: OpenBodyOptions,
): Body {
  const { request } = exchange;
  let leave: (() => void) | undefined;
  let held = false;
  let text: string | undefined;
  const limits: BodyLimits = {
    maxBytes: config.maxBodyBytes,
    timeoutMs: config.requestTimeoutMs,
    async enter(bytes) {
      const waitMs = config.poolWaitMs;
      leave = await bodies.await(bytes, { tenant, waitMs, client: request });
      if (leave === undefined) throw rejectBodies(config.maxBodiesBytes);
      if (writes) exchange.hold = hold;
    },
  };

  // Keeps the memory of the body for the response until it is sent. An update that was written must
  // get its response, which is no longer than its body, so it must not need memory of its own.
  function hold(): () => void {
    held = true;
    return () => leave?.();
  }

  return {
    read: async () => text ??= await readBody(request, limits),
    release() {
      if (!held) leave?.();
    },
  };
}

/**
 * Rejects a body on an operation that reads none, since what it says would be dropped.
 * @throws {ApiError} 400
 * @see H31
 */
export function refuseBody({ headers }: Request): void {
  const isEmpty = /^0*$/.test(headers.get("content-length") ?? "");
  if (isEmpty && !headers.has("transfer-encoding")) return;
  throw new ApiError(400, "body: this operation takes no body, expected none");
}

/** Shorter bodies are not counted, since the number of requests in flight is limited. */
const SHORT_BYTES = 16_384;
const LENGTH = /^\d{1,15}$/;
const BYTE_ORDER_MARK = 0xfeff;
const UTF_8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * Reads the body of a request as text, for `parseJson`. Bytes are counted as they arrive, whatever
 * `Content-Length` says; the rest of a rejected body is not read.
 * @throws {ApiError} whatever `enter` throws; 415 media type, charset or compression; 413 size; 408
 * deadline; 400 if the body is incomplete, is not UTF-8 or begins with a byte order mark
 * @see H1, E14, E15
 */
export async function readBody(request: Request, limits: BodyLimits): Promise<string> {
  checkMediaType(request.headers);
  const length = request.headers.get("content-length");
  if (Number(length ?? 0) > limits.maxBytes) throw rejectSize(limits);
  // The servers of the runtimes enforce the declared length, and a stream is slower to read.
  if (length !== null && LENGTH.test(length)) {
    if (Number(length) > SHORT_BYTES) await limits.enter?.(Number(length));
    const bytes = new Uint8Array(await within(limits, request.arrayBuffer()));
    if (bytes.byteLength > limits.maxBytes) throw rejectSize(limits);
    return decode(bytes);
  }
  if (request.body === null) return "";
  return decode(join(await readBytes(request.body.getReader(), limits)));
}

/**
 * Rejects a body that is not declared as uncompressed JSON in UTF-8. A small compressed body might
 * unpack to any size.
 * @throws {ApiError} 415 naming the header
 * @see H2, H3
 */
function checkMediaType(headers: Headers): void {
  const type = headers.get("content-type");
  if (type !== "application/json") checkType(type);
  const encoding = headers.get("content-encoding");
  if (encoding !== null && encoding.toLowerCase() !== "identity") {
    const wrong = `${quote(encoding)} is not supported`;
    throw new ApiError(415, `Content-Encoding: ${wrong}, expected the body uncompressed`);
  }
}

function checkType(type: string | null): void {
  const [item, ...others] = parseHeaderList(type);
  const charset = item?.parameters.get("charset")?.toLowerCase() ?? "utf-8";
  if (
    item?.name.toLowerCase() !== "application/json" || others.length > 0 || charset !== "utf-8"
  ) {
    const wrong = type === null ? "no media type" : `${quote(type)} is not supported`;
    throw new ApiError(415, `Content-Type: ${wrong}, expected application/json in UTF-8`);
  }
}

async function readBytes(reader: BodyReader, limits: BodyLimits): Promise<readonly Uint8Array[]> {
  const chunks: Uint8Array[] = [];
  let end = performance.now() + limits.timeoutMs;
  let size = 0;
  try {
    for (;;) {
      const leftMs = Math.max(0, end - performance.now());
      const { done, value } = await within({ ...limits, leftMs }, reader.read());
      if (done) return chunks;
      const wasShort = size <= SHORT_BYTES;
      size += value.byteLength;
      if (size > limits.maxBytes) throw rejectSize(limits);
      chunks.push(value);
      // Reserves for the largest body at once: bodies that reserve step by step could deadlock.
      if (!wasShort || size <= SHORT_BYTES || limits.enter === undefined) continue;
      const sinceMs = performance.now();
      await limits.enter(limits.maxBytes);
      end += performance.now() - sinceMs;
    }
  } catch (error) {
    // Not awaited: with a client that sends nothing it may never settle.
    if (IS_DENO) void discardBody(reader);
    else reader.cancel().catch(() => {});
    throw error;
  }
}

/** Waits for a read, until the deadline. */
function within<T>(
  { timeoutMs, leftMs = timeoutMs }: BodyLimits & { readonly leftMs?: number },
  reading: Promise<T>,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const endDeadline = startDeadline({ ms: leftMs, late: () => reject(rejectLate(timeoutMs)) });
    reading.then((read) => {
      endDeadline();
      resolve(read);
    }, (cause) => {
      endDeadline();
      reject(new ApiError(400, "body: the request ended before its body was complete", { cause }));
    });
  });
}

function rejectLate(timeoutMs: number): ApiError {
  const message = `body: it did not arrive in time, expected all of it within ${timeoutMs} ms`;
  return new ApiError(408, message, { headers: { "connection": "close" } });
}

function decode(bytes: Uint8Array): string {
  const text = decodeUtf8(bytes);
  if (text.charCodeAt(0) !== BYTE_ORDER_MARK) return text;
  throw new ApiError(400, "body: it begins with a byte order mark, expected JSON without one");
}

function decodeUtf8(bytes: Uint8Array): string {
  try {
    return UTF_8.decode(bytes);
  } catch (cause) {
    throw new ApiError(400, "body: it is not valid UTF-8, expected JSON in UTF-8", { cause });
  }
}

function join(chunks: readonly Uint8Array[]): Uint8Array {
  if (chunks.length === 1) return chunks[0]!;
  const size = chunks.reduce((sum, chunk) => sum + chunk.byteLength, 0);
  const bytes = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.byteLength;
  }
  return bytes;
}

/**
 * With `Connection: close`, Bun closes the connection once the response is written, and a client that
 * is still sending gets a reset instead of it. Without the header it reads and discards the rest of
 * the body.
 * @see H28
 */
const AFTER_SIZE: Readonly<Record<string, string>> = IS_BUN ? {} : { "connection": "close" };

function rejectSize({ maxBytes }: BodyLimits): ApiError {
  const message = `body: it is too large, expected at most ${maxBytes} bytes`;
  return new ApiError(413, message, { headers: AFTER_SIZE });
}

function rejectBodies(maxBytes: number): ApiError {
  const message = `body: there are already ${maxBytes} bytes of bodies at once, ` +
    "try again in a second";
  return new ApiError(503, message, { headers: { "Retry-After": "1" } });
}
