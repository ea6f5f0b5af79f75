import type { Result } from "./answers.ts";
import { createError } from "./error.ts";
import type { CallOptions, ClientOptions } from "./interface.ts";
import { sleep } from "./sleep.ts";

/** One request. */
export interface Call extends CallOptions {
  readonly method?: "POST" | "PATCH";
  /** Behind `/integration/`. */
  readonly path: string;
  readonly body?: object;
  readonly prefer?: string | false;
}

const DEFAULT_RETRIES = 3;
const DEFAULT_TIMEOUT_SECONDS = 60;
/** Who is told to wait longer gets the error instead. */
const MAX_WAIT_SECONDS = 60;

/** Nothing was done: the limit, a body that did not arrive, a service or a database that is busy. */
const REPEATABLE = [408, 429, 503];
/** It may have been done, so that only what reads is repeated. */
const UNKNOWN = [0, 502];

/**
 * Sends a request, again where that is safe, and gives the answer or the error. Rejects only when
 * the signal ends it.
 */
export async function send<A extends object>(
  client: ClientOptions,
  call: Call,
): Promise<Result<A>> {
  const { retries = DEFAULT_RETRIES } = client;
  for (let attempts = 1;; attempts++) {
    const result = await ask<A>(client, { ...call, attempts });
    if (result.success) return result;
    const { status, retryAfter = 0 } = result.error;
    const repeatable = REPEATABLE.includes(status) ||
      (call.method !== "PATCH" && UNKNOWN.includes(status));
    if (!repeatable || attempts > retries || retryAfter > MAX_WAIT_SECONDS) return result;
    await sleep(Math.max(retryAfter, 2 ** attempts / 8) * (1 + Math.random() / 4), call.signal);
  }
}

async function ask<A extends object>(
  {
    url,
    token,
    fetch = globalThis.fetch,
    timeoutSeconds = DEFAULT_TIMEOUT_SECONDS,
    wideNumbers,
  }: ClientOptions,
  { attempts, method, path, body, prefer, signal, onHeaders }: Call & { readonly attempts: number },
): Promise<Result<A>> {
  signal?.throwIfAborted();
  const controller = new AbortController();
  const abort = () => controller.abort();
  const timer = setTimeout(abort, timeoutSeconds * 1000);
  signal?.addEventListener("abort", abort);
  let response: Response | undefined;
  let [error, matched, cause]: [string?, number?, unknown?] = [];
  try {
    response = await fetch(`${url.replace(/\/+$/, "")}/integration/${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        accept: `application/json${wideNumbers ? ";IEEE754Compatible=true" : ""}`,
        ...(body && { "content-type": "application/json" }),
        ...(prefer && { prefer }),
      },
      body: JSON.stringify(body),
      signal: controller.signal,
      // The token goes where it was meant to go.
      redirect: "manual",
    });
    onHeaders?.(response.headers);
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
  const header = (name: string) => response?.headers.get(name) ?? undefined;
  const status = response?.status ?? 0;
  const message = typeof error === "string" ? error : `No answer of Rowgate, status ${status}`;
  // A date instead of seconds is NaN, and then left out.
  const retryAfter = Number(header("retry-after")) || undefined;
  const requestId = header("x-request-id");
  return {
    success: false,
    error: createError(message, { status, matched, retryAfter, requestId, attempts, cause }),
  };
}
