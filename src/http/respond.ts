import { ApiError } from "../basics/errors/api_error.ts";
import { sha256OfLong } from "../basics/text/sha256.ts";
import { DatabaseError } from "../database/postgres/database_error.ts";
import type { CurrentAccess } from "../access/tokens/current_access.ts";
import { corsHeaders, preflightHeaders } from "./cors.ts";
import { toApiError } from "../records/database_status.ts";
import { EVENT_STREAM, type EventSource, streamEvents } from "./event_stream.ts";
import { type ExportSource, freeChunks, streamExport } from "./export_stream.ts";
import {
  acceptsGzip,
  compress,
  decompress,
  encodeLong,
  isCompressible,
  isLong,
  makeBody,
  measure,
  type Recipient,
  type Slices,
  streamBytes,
  zip,
} from "./response_body.ts";
import { zipChunks } from "./zip_chunks.ts";

/** A JSON response. */
export interface JsonResponse {
  readonly status: number;
  readonly json: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Lets the client cache the response, and get a 304 while it has not changed. */
  readonly etag?: string;
}

/** The request, and everything besides content that its response depends on. */
export interface Exchange extends Recipient {
  readonly request: Request;
  readonly requestId: string;
  readonly corsOrigins: readonly string[];
  /** Undefined: not known. */
  readonly httpVersion?: string | undefined;
  /** Aborted when the server is about to stop: then no connection is kept alive. */
  readonly stopping?: AbortSignal | undefined;
  /** Headers of any response to the request: `Preference-Applied`, the rate limit. */
  readonly headers: Record<string, string>;
}

/**
 * Makes a JSON response: a 304 if the client has it already, without a body on `HEAD`, compressed if
 * the client accepts that and it saves a packet.
 * @see T46, H5, H6
 */
export function respond(
  content: JsonResponse & { readonly slices?: Slices },
  exchange: Exchange,
): Response {
  const { request } = exchange;
  const headers = makeHeaders({ text: content.json, ...content }, exchange);
  if (content.etag !== undefined && isUnchanged(request, content.etag)) {
    return new Response(null, { status: 304, headers });
  }
  headers["content-type"] ??= "application/json; charset=utf-8";
  return finish(content.status, { text: content.json, slices: content.slices, headers }, exchange);
}

/**
 * Makes the response of an operation: JSON, and an ETag when it is cacheable.
 * @see T46
 */
export async function respondJson(
  json: string,
  exchange: Exchange,
  { cacheable = false, status = 200, etag }: {
    readonly cacheable?: boolean | undefined;
    readonly status?: number | undefined;
    /** The version of the record in the response. */
    readonly etag?: string | undefined;
  } = {},
): Promise<Response> {
  if (cacheable) return respond({ status, json, etag: await makeEtag(json) }, exchange);
  const content = { status, json, ...(etag !== undefined && { etag }) };
  if (!isLong(json.length)) return respond(content, exchange);
  return respond({ ...content, slices: await encodeLong(json) }, exchange);
}

const UTF_8 = new TextEncoder();
const INTERNAL_ERROR = "Internal error";

function finish(
  status: number,
  { text, slices, headers }: {
    readonly text: string;
    /** The text, if it has been encoded already. */
    readonly slices?: Slices | undefined;
    readonly headers: Record<string, string>;
  },
  exchange: Exchange,
): Response {
  const { request } = exchange;
  const gzip = isCompressible(text) && acceptsGzip(request.headers.get("accept-encoding"));
  if (gzip) headers["content-encoding"] = "gzip";
  if (request.method === "HEAD") return new Response(null, { status, headers });
  if (isLong(text.length)) {
    const encoded = slices ?? [UTF_8.encode(text)];
    // What is compressed is still needed when the next slice is asked for.
    const body = streamBytes(encoded, gzip ? { ...exchange, free: undefined } : exchange);
    if (!gzip) headers["content-length"] = String(measure(encoded));
    return new Response(gzip ? zip(body) : body, { status, headers });
  }
  return new Response(gzip ? compress(text) : makeBody(text), { status, headers });
}

/**
 * Makes a response with a text of the given media type, such as the metrics.
 * @see H15
 */
export function respondText(text: string, type: string, exchange: Exchange): Response {
  const headers = makeHeaders({ text, headers: { "content-type": type } }, exchange);
  return finish(200, { text, headers }, exchange);
}

/**
 * Makes the response with a stream of events: never compressed and not buffered by proxies.
 * @see CH15
 */
export function respondEvents(
  source: EventSource,
  exchange: Exchange,
  current: CurrentAccess,
): Response {
  const own = { "content-type": EVENT_STREAM, "x-accel-buffering": "no" };
  const headers = makeHeaders({ text: "", headers: own }, exchange);
  if (exchange.request.method === "HEAD") {
    void source.return();
    exchange.room?.hold(0);
    return new Response(null, { status: 200, headers });
  }
  const describe = (error: unknown) => findApiError(error)?.message ?? INTERNAL_ERROR;
  const body = streamEvents(source, exchange, { describe, current });
  return new Response(body, { status: 200, headers });
}

/** Makes the response to a message that is accepted and has no answer: 202 without a body. @see MC3 */
export function respondAccepted(exchange: Exchange): Response {
  return new Response(null, { status: 202, headers: makeHeaders({ text: "" }, exchange) });
}

/**
 * Makes the response with an export, compressed when the client accepts that, and not buffered by proxies.
 * @see EX6, EX9
 */
export function respondExport(
  source: ExportSource,
  exchange: Exchange,
  { type }: { readonly type: string },
): Response {
  const own = { "content-type": type, "x-accel-buffering": "no" };
  const headers = makeHeaders({ text: "", headers: own }, exchange);
  addVary(headers, "Accept-Encoding");
  const gzip = acceptsGzip(exchange.request.headers.get("accept-encoding"));
  if (gzip) headers["content-encoding"] = "gzip";
  const body = streamExport(gzip ? zipChunks(source) : freeChunks(source, exchange.free), exchange);
  return new Response(body, { status: 200, headers });
}

/** Adds to the headers that a response depends on. */
function addVary(headers: Record<string, string>, name: string): void {
  headers["vary"] = [...headers["vary"]?.split(", ") ?? [], name].join(", ");
}

/** A file of the console. */
export interface CompressedFile {
  readonly type: string;
  readonly etag: string;
  /** Compressed by gzip. */
  readonly gzip: Uint8Array<ArrayBuffer>;
}

/** Allows only what this service serves, nothing inline, and no frame around it. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/**
 * Makes a response with a file: 304 when the browser has it already, without body on `HEAD`.
 * @see docs/decisions/0042-openapi-client-console.md
 */
export function respondFile({ type, etag, gzip }: CompressedFile, exchange: Exchange): Response {
  const { request } = exchange;
  const own = {
    etag,
    // Browsers would request the icon at each change of the address, and the console makes many.
    "cache-control": type.startsWith("image/") ? "max-age=86400" : "no-cache",
    "content-security-policy": CONTENT_SECURITY_POLICY,
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
  };
  const headers = makeHeaders({ text: "", headers: own }, exchange);
  addVary(headers, "Accept-Encoding");
  if (isUnchanged(request, etag)) return new Response(null, { status: 304, headers });
  headers["content-type"] = type;
  const compressed = acceptsGzip(request.headers.get("accept-encoding"));
  if (compressed) headers["content-encoding"] = "gzip";
  if (request.method === "HEAD") return new Response(null, { status: 200, headers });
  const body = isLong(gzip.length) ? streamBytes(gzip, exchange) : gzip;
  if (compressed) headers["content-length"] = String(gzip.length);
  return new Response(compressed ? body : decompress(body), { status: 200, headers });
}

/**
 * Makes the response to a thrown value: the error body for an {@link ApiError} or a database error,
 * and a 500 with a fixed text for anything else.
 * @see E1, E45
 */
export function respondError(error: unknown, exchange: Exchange): Response {
  const { status, message, matched, headers } = findApiError(error) ??
    new ApiError(500, INTERNAL_ERROR);
  exchange.room?.hold(0);
  const body = { success: false, error: message, ...(matched === undefined ? {} : { matched }) };
  return respond({ status, json: JSON.stringify(body), headers }, exchange);
}

/** Returns the error that a client sees for a thrown value; undefined for an unexpected one. */
export function findApiError(error: unknown): ApiError | undefined {
  if (error instanceof DatabaseError) return toApiError(error);
  return error instanceof ApiError ? error : undefined;
}

/**
 * Makes the response to `OPTIONS`: 204, the methods of the path, and the CORS headers for allowed
 * origins.
 * @see H7, H10
 */
export function respondOptions(methods: readonly string[], exchange: Exchange): Response {
  const allow = methods.join(", ");
  const { request, corsOrigins: origins } = exchange;
  const headers = { allow, ...preflightHeaders(request, { origins, allow }) };
  return new Response(null, { status: 204, headers: makeHeaders({ text: "", headers }, exchange) });
}

/** What the headers of a response depend on; `text` is empty if the body must not be compressed. */
interface HeaderContent extends Pick<JsonResponse, "headers" | "etag"> {
  readonly text: string;
}

function makeHeaders(
  { text, headers: own, etag }: HeaderContent,
  { request, requestId, corsOrigins, stopping, headers: always }: Exchange,
): Record<string, string> {
  const headers: Record<string, string> = {
    "x-request-id": requestId,
    "x-content-type-options": "nosniff",
    "cache-control": etag === undefined ? "no-store" : "private, no-cache",
    ...own,
    ...always,
  };
  if (etag !== undefined) headers["etag"] = etag;
  if (stopping?.aborted) headers["connection"] = "close";
  const origin = corsHeaders(request, corsOrigins);
  const vary = [
    ...(origin["vary"] === undefined ? [] : [origin["vary"]]),
    ...(etag === undefined ? [] : ["Authorization"]),
    ...(isCompressible(text) ? ["Accept-Encoding"] : []),
  ];
  Object.assign(headers, origin);
  if (vary.length > 0) headers["vary"] = vary.join(", ");
  return headers;
}

/**
 * Returns the ETag of a response. It is weak, since the compressed and the plain form share it.
 * @see T46, T51
 */
export async function makeEtag(json: string): Promise<string> {
  return `W/"${(await sha256OfLong(json)).slice(0, 32)}"`;
}

/** Reports whether the client of a `GET` or `HEAD` has this version already. */
function isUnchanged(request: Request, etag: string): boolean {
  if (request.method !== "GET" && request.method !== "HEAD") return false;
  const held = request.headers.get("if-none-match");
  if (held === null) return false;
  if (held.trim() === "*") return true;
  return held.split(",").some((one) => withoutWeakness(one.trim()) === withoutWeakness(etag));
}

function withoutWeakness(etag: string): string {
  return etag.startsWith("W/") ? etag.slice(2) : etag;
}
