import { findDatabaseError } from "../database/postgres/database_error.ts";
import type { Observe } from "../server/telemetry/observe.ts";
import { redactTokens } from "../basics/text/redact.ts";
import type { Access } from "../access/tokens/token.ts";
import type { Place } from "./in_flight.ts";
import { type Exchange, findApiError } from "./respond.ts";

/** What is learnt about a request while it runs, for its headers and its log line. */
export interface Trace {
  readonly exchange: Exchange;
  /** When the request began, by `performance.now()`. */
  readonly startedMs: number;
  /** Address of the client, if it is known. */
  readonly peer: string | undefined;
  /** Of the client's `traceparent`. */
  readonly traceId: string | undefined;
  /** Its place among the requests in flight. */
  readonly place: Place;
  operation?: string;
  table?: string;
  access?: Access;
  rows?: number;
  /** The rate limit that rejected the request. */
  limited?: "token" | "peer";
  /** Reports the cause of an error of 500 or above, which the client is not shown. */
  readonly reportError: (error: unknown, observe: Observe) => void;
  /** Reports the request, and gives its response back. */
  readonly end: (response: Response, observe: Observe) => Response;
}

/** The origin of a request, as far as it is known. */
type Origin = Pick<Trace, "peer" | "traceId" | "place">;

/** Starts the trace of one request. */
export function startTrace(exchange: Exchange, { peer, traceId, place }: Origin): Trace {
  const { request, requestId } = exchange;
  const startedMs = performance.now();
  const trace: Trace = { exchange, startedMs, peer, traceId, place, reportError, end };
  return trace;

  function reportError(error: unknown, observe: Observe): void {
    const code = describeError(error);
    if (code === undefined) return;
    observe({ kind: "failure", requestId, code, where: trace.operation ?? "routes" });
  }

  function end(response: Response, observe: Observe): Response {
    const { operation, table, access, rows, limited } = trace;
    observe({
      kind: "request",
      requestId,
      traceId,
      method: request.method,
      path: pathOf(request.url),
      status: response.status,
      durationMs: Math.round((performance.now() - startedMs) * 1000) / 1000,
      operation,
      table,
      tokenId: access?.tokenId,
      tenant: access?.tenant,
      rows,
      limited,
      peer: limited === "peer" ? peer : undefined,
    });
    return response;
  }
}

/** Without the query string, where clients put secrets. */
function pathOf(url: string): string {
  const start = url.indexOf("/", url.indexOf("//") + 2);
  return start < 0 ? "/" : redactTokens(url.slice(start).split(/[?#]/, 1)[0]!).slice(0, 200);
}

/**
 * Returns the SQLSTATE or driver code of a database error, or the name of an unexpected error.
 * Undefined below 500: a 409 is an ordinary response, although it has a code.
 */
function describeError(error: unknown): string | undefined {
  const status = findApiError(error)?.status;
  if (status === undefined) return error instanceof Error ? error.name : typeof error;
  return status < 500 ? undefined : findDatabaseError(error)?.code;
}

/** Version, trace, parent, flags; later versions may append more after a dash. */
const TRACEPARENT =
  /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(-.*)?$/;

/**
 * Returns the trace id of a request's `traceparent`, 32 hexadecimal digits, for its log line;
 * undefined if it is missing or malformed.
 * @see https://www.w3.org/TR/trace-context/#traceparent-header
 */
export function readTraceId(request: Request): string | undefined {
  const found = TRACEPARENT.exec(request.headers.get("traceparent") ?? "");
  if (found === null || (found[1] === "00" && found[3] !== undefined)) return undefined;
  return found[2];
}

const REQUEST_ID = /^[A-Za-z0-9._~-]{1,128}$/;

const TOKEN_START = /(?<![0-9A-Za-z])rg_[0-9A-Za-z]/;

/**
 * Returns the id of a request: the client's `X-Request-Id` if it is 1 to 128 unreserved characters
 * and no token, so that it is safe in headers and logs; otherwise a random UUID.
 * @see E46, E47, AU19
 */
export function takeRequestId(request: Request): string {
  const sent = request.headers.get("x-request-id");
  return sent !== null && REQUEST_ID.test(sent) && !holdsToken(sent) ? sent : crypto.randomUUID();
}

/**
 * Reports whether an id contains a token or a part of one. An id is logged, stored and sent back, so
 * it must not.
 */
function holdsToken(id: string): boolean {
  return TOKEN_START.test(id) || redactTokens(id) !== id;
}
