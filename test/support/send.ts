import type { App } from "../../src/app.ts";
import { openDocument } from "./openapi.ts";
import { readJson } from "./read_json.ts";

/** What a test request has besides method and path. */
export interface SendOptions {
  /** Tenant 1's when left out; null sends none. */
  readonly token?: string | null;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Sent as it is, in place of `body`. */
  readonly raw?: BodyInit;
  readonly headers?: Record<string, string>;
}

/** A response, read to its end. */
export interface ReceivedResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The parsed body; empty when there was none. */
  readonly body: Record<string, unknown>;
}

/** Media types of what the document describes as text. */
const EXPORTED = /^(application\/x-ndjson|text\/csv)\b/;

/** Every exchange of every test is checked against the OpenAPI document. */
const checkExchange = openDocument();

/**
 * Sends one request to a handler, or to anything that takes its place.
 * @throws {Error} when the request or the response is not as the OpenAPI document says
 */
export async function send(
  app: App,
  defaultToken: string,
  { method, path, ...options }: SendOptions & { readonly method: string; readonly path: string },
): Promise<ReceivedResponse> {
  const headers = new Headers(options.headers);
  const token = options.token === undefined ? defaultToken : options.token;
  if (token !== null && !headers.has("authorization")) {
    headers.set("authorization", `Bearer ${token}`);
  }
  const hasBody = options.raw !== undefined || options.body !== undefined;
  if (hasBody && !headers.has("content-type")) headers.set("content-type", "application/json");
  const body = options.raw ?? (options.body === undefined ? null : JSON.stringify(options.body));
  const init = { method, headers, body, duplex: "half" } as RequestInit;
  const response = await app(new Request(`http://127.0.0.1${path}`, init));
  const text = await readText(response);
  const isExport = EXPORTED.test(response.headers.get("content-type") ?? "");
  const parsed = text.startsWith("{") && !isExport
    ? readJson(text) as ReceivedResponse["body"]
    : {};
  const { status } = response;
  const sent = options.raw === undefined ? options.body : undefined;
  const exchange = { method, path, sent, status, answered: parsed };
  const wrong = method === "HEAD" || isExport ? undefined : checkExchange(exchange);
  if (wrong !== undefined) {
    throw new Error(`not as /openapi.json says: ${method} ${path}: ${wrong}`);
  }
  return { status, headers: response.headers, text, body: parsed };
}

/** In this process no client decompresses the body. */
async function readText(response: Response): Promise<string> {
  const encoding = response.headers.get("content-encoding");
  const packed = new Uint8Array(await response.arrayBuffer());
  if (packed[0] !== 0x1f || packed[1] !== 0x8b || encoding !== "gzip") {
    return new TextDecoder().decode(packed);
  }
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return await new Response(stream).text();
}
