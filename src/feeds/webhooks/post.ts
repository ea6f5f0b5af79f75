import { VERSION } from "../../server/config/config.ts";
import { startDeadline } from "../../server/runtime/timers.ts";
import { readRetryAfter } from "./schedule.ts";
import { type SignedMessage, signMessage } from "./secret.ts";

/** How long a receiver may take to answer. @see WH23 */
export const POST_TIMEOUT_MS = 15_000;

/** The `fetch` of the runtime, or that of a test, which trusts its own certificate authority. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** The outcome of an attempt. `error` is one of a few texts of ours, never a text of the receiver. */
export type Outcome =
  | { readonly kind: "acknowledged" }
  /** 410: the receiver wants no more messages. */
  | { readonly kind: "gone"; readonly error: string }
  | {
    readonly kind: "failed";
    readonly error: string;
    readonly retryAfter: number | undefined;
  }
  /** The service is being stopped. */
  | { readonly kind: "stopped" };

/** Where a message is sent, and how it is signed. */
export interface PostTarget {
  readonly url: string;
  readonly secret: string;
  readonly message: Omit<SignedMessage, "timestamp">;
}

/** How a message is sent. */
export interface PostOptions {
  readonly fetch: Fetch;
  readonly nowMs: number;
  /** Ends the attempt when the service is being stopped. */
  readonly stopping: AbortSignal;
  readonly timeoutMs?: number;
}

/**
 * Sends a message once. Only the status and `Retry-After` of the response are read; its body is
 * discarded, and redirects are not followed.
 * @see WH11, WH23, WH24
 */
export async function postMessage(
  { url, secret, message }: PostTarget,
  { fetch, nowMs, stopping, timeoutMs = POST_TIMEOUT_MS }: PostOptions,
): Promise<Outcome> {
  const { id, body } = message;
  const timestamp = Math.floor(nowMs / 1000);
  const signature = await signMessage(secret, { id, timestamp, body });
  const ending = new AbortController();
  const late = new Promise<Outcome>((resolve) => {
    const endDeadline = startDeadline({
      ms: timeoutMs,
      late: () => resolve(describeLate(timeoutMs)),
    });
    ending.signal.addEventListener("abort", endDeadline);
  });
  const stopped = new Promise<Outcome>((resolve) => {
    const stop = () => resolve({ kind: "stopped" });
    if (stopping.aborted) stop();
    stopping.addEventListener("abort", stop, { signal: ending.signal });
  });
  const request = fetch(url, {
    method: "POST",
    headers: {
      ...signature,
      "content-type": "application/json",
      "user-agent": `Rowgate/${VERSION}`,
    },
    body,
    redirect: "manual",
    credentials: "omit",
    signal: ending.signal,
  });
  // Races the timeout as well, because a runtime may never settle an aborted request.
  const answered = request.then((response) => readAnswer(response, nowMs), describeFailure);
  try {
    return await Promise.race([answered, late, stopped]);
  } finally {
    ending.abort();
  }
}

function readAnswer(response: Response, nowMs: number): Outcome {
  // The body may never end. Whether cancelling fails does not matter.
  response.body?.cancel().catch(() => {});
  const { status, type } = response;
  if (status >= 200 && status <= 299) return { kind: "acknowledged" };
  if (status === 410) return { kind: "gone", error: "status 410" };
  const error = type === "opaqueredirect" ? "a redirect" : `status ${status}`;
  const retryAfter = readRetryAfter(response.headers.get("retry-after"), nowMs);
  return { kind: "failed", error, retryAfter };
}

function describeLate(timeoutMs: number): Outcome {
  const error = `no answer within ${timeoutMs / 1000} s`;
  return { kind: "failed", error, retryAfter: undefined };
}

/** Hides the texts of the runtimes, which name addresses and differ. */
function describeFailure(): Outcome {
  return { kind: "failed", error: "the connection failed or was cut off", retryAfter: undefined };
}
