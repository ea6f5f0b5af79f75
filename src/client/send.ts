import { createError, type Failure, type Result } from "./errors.ts";
import type { CallOptions, ClientOptions } from "./interface.ts";
import { writeJson } from "./write_json.ts";

/** A request to the service. */
export interface ClientRequest extends CallOptions {
  readonly method?: "POST" | "PUT" | "PATCH" | "DELETE";
  /** Relative to `/integration/`. */
  readonly path: string;
  readonly body?: unknown;
  readonly prefer?: string | false;
  /** The `Idempotency-Key`, without quotes. */
  readonly key?: string | undefined;
  /** The version that the row must have. */
  readonly ifMatch?: string | undefined;
  /**
   * True: the request may be sent without the key where the service cannot keep answers; left out: it
   * only reads.
   */
  readonly mayDropKey?: boolean | undefined;
}

/** Longest `Retry-After` to wait for; above it, the call returns the error. */
const MAX_WAIT_SECONDS = 60;

/** Statuses after which nothing was done: rate limit, incomplete body, busy service or database. */
const NOT_DONE = [408, 429, 503];
/**
 * Statuses after which it may have been done, so only requests that read or have a key are repeated.
 */
const PERHAPS_DONE = [0, 502];

/**
 * Sends a request, repeatedly if that is safe, and returns the response or the error.
 * @throws {unknown} the reason of the signal that aborts it
 * @throws {RowgateError} 400 nothing was sent, because its body is no JSON
 */
export async function send<A extends object>(
  client: OpenClient,
  request: ClientRequest,
): Promise<Result<A>> {
  const { retries = 3 } = client;
  const body = writeBody(request);
  let { key } = request;
  for (let attempts = 1;; attempts++) {
    const result = await sendOnce<A>(client, { ...request, body, key, attempts });
    if (result.success) return result;
    const { status, message, retryAfter = 0 } = result.error;
    const isUnkept = status === 400 && message.startsWith("Idempotency-Key: ");
    if (isUnkept && request.mayDropKey && attempts === 1) {
      // The schema of the service is of an earlier version, and nothing was done.
      key = undefined;
      continue;
    }
    const repeatable = NOT_DONE.includes(status) ||
      ((request.mayDropKey === undefined || key !== undefined) && PERHAPS_DONE.includes(status)) ||
      // The first attempt, whose response was lost, is still running.
      (key !== undefined && status === 409 && retryAfter > 0);
    if (!repeatable || attempts > retries || retryAfter > MAX_WAIT_SECONDS) return result;
    await sleep(Math.max(retryAfter, 2 ** attempts / 8) * (1 + Math.random() / 4), request.signal);
  }
}

async function sendOnce<A extends object>(
  client: OpenClient,
  { attempts, method, path, body, prefer, key, ifMatch, signal, onHeaders }: ClientRequest & {
    readonly attempts: number;
    readonly body: string | undefined;
  },
): Promise<Result<A>> {
  signal?.throwIfAborted();
  const { timeoutSeconds = 60 } = client;
  const controller = new AbortController();
  const abort = () => controller.abort();
  const timer = setTimeout(abort, timeoutSeconds * 1000);
  signal?.addEventListener("abort", abort);
  let response: Response | undefined;
  let [error, matched, cause]: [string?, number?, unknown?] = [];
  try {
    response = await ask(client, {
      ...{ method, path, body, onHeaders, signal: controller.signal },
      headers: {
        ...(prefer && { prefer }),
        ...(ifMatch !== undefined && { "if-match": ifMatch }),
        ...(key !== undefined && { "idempotency-key": JSON.stringify(key) }),
      },
    });
    const answer = await response.json();
    if (answer.success === true) return answer;
    ({ error, matched } = answer);
  } catch (thrown) {
    signal?.throwIfAborted();
    cause = thrown;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", abort);
  }
  return fail(response, { error, matched, attempts, cause });
}

/** Writes a body once: also what is sent again is what it was when the call was made. */
function writeBody(request: { readonly body?: unknown }): string | undefined {
  return "body" in request ? writeJson(request.body) : undefined;
}

/** A client, and the positions of its last updates. */
export interface OpenClient extends ClientOptions {
  seen: readonly string[];
}

const JSON_TYPE = "application/json";
const POSITION = "rowgate-position";

/**
 * Sends a request once. A query sends the positions of the client's last updates back, so that it sees
 * them wherever it runs.
 */
async function ask(
  client: OpenClient,
  { method, path, body, accept = JSON_TYPE, headers, signal, onHeaders }:
    & Omit<StreamRequest, "lastEventId" | "body" | "prefer">
    & {
      readonly body: string | undefined;
      readonly method: string | undefined;
      readonly headers: Record<string, string>;
    },
): Promise<Response> {
  const { url, token, fetch = globalThis.fetch } = client;
  const reads = method === "POST" || path.includes("/records/single?");
  const seen = reads && client.seen.join();
  const response = await fetch(`${url.replace(/\/+$/, "")}/integration/${path}`, {
    method: method!,
    headers: {
      authorization: `Bearer ${token}`,
      accept: accept + (client.wideNumbers ? ";IEEE754Compatible=true" : ""),
      ...(body !== undefined && { "content-type": JSON_TYPE }),
      ...(seen && { [POSITION]: seen }),
      ...headers,
    },
    body: body!,
    signal: signal!,
    // A redirect could take the token to another host.
    redirect: "manual",
  });
  const position = response.headers.get(POSITION);
  // For simultaneous updates, the service finds the latest position.
  if (position) client.seen = [position, ...client.seen].slice(0, 8);
  // The update may have been lost in a failover. This call reports it, and later ones do not send the
  // position.
  if (seen && response.status === 410) client.seen = [];
  onHeaders?.(response.headers);
  return response;
}

function fail(
  response: Response | undefined,
  { error, ...details }: {
    readonly error?: unknown;
    readonly matched?: number | undefined;
    readonly attempts: number;
    readonly cause?: unknown;
  },
): Failure {
  const header = (name: string) => response?.headers.get(name) ?? undefined;
  const status = response?.status ?? 0;
  const message = typeof error === "string" ? error : `No response from Rowgate, status ${status}`;
  // `Retry-After` may be a date, which becomes NaN and is left out.
  const retryAfter = Number(header("retry-after")) || undefined;
  const requestId = header("x-request-id");
  return {
    success: false,
    error: createError(message, { ...details, status, retryAfter, requestId }),
  };
}

/** A stream of events to be opened. */
export interface StreamRequest {
  readonly path: string;
  /** The id of the last event that was received, to continue after it. */
  readonly lastEventId?: string | undefined;
  /** The media type. */
  readonly accept?: string;
  readonly prefer?: string;
  /** With a body, the request is a POST. */
  readonly body?: unknown;
  readonly signal?: AbortSignal | undefined;
  readonly onHeaders?: ((headers: Headers) => void) | undefined;
}

/**
 * Opens a stream, without retries; returns the error if that fails.
 * @throws {RowgateError} 400 nothing was sent, because its body is no JSON
 */
export async function openStream(
  client: OpenClient,
  { lastEventId, prefer, ...request }: StreamRequest,
): Promise<Result<{ readonly body: ReadableStream<Uint8Array> }>> {
  const body = writeBody(request);
  let [response, error, cause]: [Response?, unknown?, unknown?] = [];
  try {
    response = await ask(client, {
      ...{ ...request, body, method: body === undefined ? body : "POST" },
      headers: {
        ...(prefer && { prefer }),
        ...(lastEventId && { "last-event-id": lastEventId }),
      },
    });
    if (response.ok && response.body) return { success: true, body: response.body };
    ({ error } = await response.json());
  } catch (thrown) {
    cause = thrown;
  }
  return fail(response, { error, attempts: 1, cause });
}

/** Waits for a time, or until the signal aborts. */
export function sleep(seconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(end, signal?.aborted ? 0 : seconds * 1000);
    signal?.addEventListener("abort", end);

    function end(): void {
      clearTimeout(timer);
      signal?.removeEventListener("abort", end);
      resolve();
    }
  });
}
