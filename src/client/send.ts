import { createError, type Failure, type Result } from "./errors.ts";
import type { CallOptions, ClientOptions } from "./interface.ts";
import type { Positions } from "./positions.ts";

/** A request to the service. */
export interface ClientRequest extends CallOptions {
  readonly method?: "POST" | "PATCH";
  /** Relative to `/integration/`. */
  readonly path: string;
  readonly body?: object;
  readonly prefer?: string | false;
  readonly positions?: Positions | undefined;
  /** The `Idempotency-Key`, without quotes. */
  readonly key?: string | undefined;
  /** True: the request may be sent without the key where the service cannot keep answers. */
  readonly mayDropKey?: boolean | undefined;
}

const DEFAULT_RETRIES = 3;
const DEFAULT_TIMEOUT_SECONDS = 60;
/** A longer `Retry-After` is not waited for: the call gives the error. */
const MAX_WAIT_SECONDS = 60;

/** The service did nothing: rate limit, incomplete body, busy service or database. */
const NOT_DONE = [408, 429, 503];
/** The service may have done it, so only requests that read or have a key are repeated. */
const PERHAPS_DONE = [0, 502];

/**
 * Sends a request, again where that is safe, and returns the response or the error. Rejects only if
 * the signal aborts it.
 */
export async function send<A extends object>(
  client: ClientOptions,
  request: ClientRequest,
): Promise<Result<A>> {
  const { retries = DEFAULT_RETRIES } = client;
  let { key } = request;
  for (let attempts = 1;; attempts++) {
    const result = await sendOnce<A>(client, { ...request, key, attempts });
    if (result.success) return result;
    const { status, message, retryAfter = 0 } = result.error;
    const isUnkept = status === 400 && message.startsWith("Idempotency-Key: ");
    if (isUnkept && request.mayDropKey && attempts === 1) {
      // The schema of the service is of an earlier version, and nothing was done.
      key = undefined;
      continue;
    }
    const repeatable = NOT_DONE.includes(status) ||
      ((request.method !== "PATCH" || key !== undefined) && PERHAPS_DONE.includes(status)) ||
      // The first attempt, whose response was lost, is still running.
      (key !== undefined && status === 409 && retryAfter > 0);
    if (!repeatable || attempts > retries || retryAfter > MAX_WAIT_SECONDS) return result;
    await sleep(Math.max(retryAfter, 2 ** attempts / 8) * (1 + Math.random() / 4), request.signal);
  }
}

async function sendOnce<A extends object>(
  client: ClientOptions,
  { attempts, method, path, body, prefer, key, signal, onHeaders, positions }: ClientRequest & {
    readonly attempts: number;
  },
): Promise<Result<A>> {
  signal?.throwIfAborted();
  const { fetch = globalThis.fetch, timeoutSeconds = DEFAULT_TIMEOUT_SECONDS } = client;
  const controller = new AbortController();
  const abort = () => controller.abort();
  const timer = setTimeout(abort, timeoutSeconds * 1000);
  signal?.addEventListener("abort", abort);
  let response: Response | undefined;
  const arrived = method === "PATCH" ? positions?.begin() : undefined;
  const position = method === "POST" ? positions?.print() : undefined;
  let [error, matched, cause]: [string?, number?, unknown?] = [];
  try {
    response = await fetch(addressOf(client, path), {
      method,
      headers: {
        ...headersOf(client),
        ...(body && { "content-type": "application/json" }),
        ...(prefer && { prefer }),
        ...(position && { "rowgate-position": position }),
        ...(key !== undefined && { "idempotency-key": JSON.stringify(key) }),
      },
      body: JSON.stringify(body),
      signal: controller.signal,
      // A redirect could take the token to another host.
      redirect: "manual",
    });
    onHeaders?.(response.headers);
    arrived?.(response.headers.get("rowgate-position"));
    const answer = await response.json();
    if (answer.success === true) return answer;
    ({ error, matched } = answer);
    // The update may have been lost in a failover; the call says so, and later ones do without.
    if (position && (response.status === 410 || `${error}`.startsWith("Rowgate-Position: "))) {
      positions?.forget();
    }
  } catch (thrown) {
    signal?.throwIfAborted();
    cause = thrown;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", abort);
  }
  return fail(response, { error, matched, attempts, cause });
}

function addressOf({ url }: ClientOptions, path: string): string {
  return `${url.replace(/\/+$/, "")}/integration/${path}`;
}

function headersOf({ token, wideNumbers }: ClientOptions, before = "") {
  return {
    authorization: `Bearer ${token}`,
    accept: `${before}application/json${wideNumbers ? ";IEEE754Compatible=true" : ""}`,
  };
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
  /** The id of the last event that was received, to go on behind it. */
  readonly lastEventId?: string | undefined;
  /** In place of events. */
  readonly accept?: string;
  /** Then it is sent as POST. */
  readonly body?: object;
  readonly position?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly onHeaders?: ((headers: Headers) => void) | undefined;
}

/** Opens a stream, once; gives the error if there is none. */
export async function openStream(
  client: ClientOptions,
  { path, lastEventId, accept, body, position, signal, onHeaders }: StreamRequest,
): Promise<Result<{ readonly body: ReadableStream<Uint8Array> }>> {
  const { fetch = globalThis.fetch } = client;
  let [response, error, cause]: [Response?, unknown?, unknown?] = [];
  try {
    response = await fetch(addressOf(client, path), {
      ...(body && { method: "POST", body: JSON.stringify(body) }),
      headers: {
        ...headersOf(client, "text/event-stream,"),
        ...(body && { "content-type": "application/json" }),
        ...(accept && { accept }),
        ...(position && { "rowgate-position": position }),
        ...(lastEventId && { "last-event-id": lastEventId }),
      },
      signal: signal ?? null,
      redirect: "manual",
    });
    onHeaders?.(response.headers);
    if (response.ok && response.body) return { success: true, body: response.body };
    ({ error } = await response.json());
  } catch (thrown) {
    cause = thrown;
  }
  return fail(response, { error, attempts: 1, cause });
}

/** Waits for a time; rejects with the signal's reason if that aborts it. */
export function sleep(seconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(end, signal?.aborted ? 0 : seconds * 1000);
    signal?.addEventListener("abort", end);

    function end(): void {
      clearTimeout(timer);
      signal?.removeEventListener("abort", end);
      if (signal?.aborted) reject(signal.reason);
      else resolve();
    }
  });
}
