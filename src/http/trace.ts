import { findDatabaseError } from "../postgres/database_error.ts";
import type { Place } from "./in_flight.ts";
import { type Exchange, findApiError } from "./respond.ts";
import type { Observe } from "../telemetry/observe.ts";
import { redactTokens } from "../text/redact.ts";
import type { Access } from "../tokens/token.ts";

/** What is learnt of one request on its way, for its headers and its log line. */
export interface Trace {
  readonly exchange: Exchange;
  /** Address that the request came from, where it is known. */
  readonly peer: string | undefined;
  /** Of the client's `traceparent`. */
  readonly traceId: string | undefined;
  /** Its place among the requests that are being answered. */
  readonly place: Place;
  operation?: string;
  table?: string;
  access?: Access;
  rows?: number;
  /** Whose rate limit refused the request. */
  limited?: "token" | "peer";
  /** Tells the failure behind an error of 500 or above; the client sees none of it. */
  readonly fail: (error: unknown, observe: Observe) => void;
  /** Tells the request, and gives its response back. */
  readonly end: (response: Response, observe: Observe) => Response;
}

/** Where a request comes from, as far as it is known. */
type Origin = Pick<Trace, "peer" | "traceId" | "place">;

/** Starts the trace of one request. */
export function startTrace(exchange: Exchange, { peer, traceId, place }: Origin): Trace {
  const { request, requestId } = exchange;
  const started = performance.now();
  const trace: Trace = { exchange, peer, traceId, place, fail, end };
  return trace;

  function fail(error: unknown, observe: Observe): void {
    const code = describeFailure(error);
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
      durationMs: Math.round((performance.now() - started) * 1000) / 1000,
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

/** Never the query string: clients put secrets there. */
function pathOf(url: string): string {
  const start = url.indexOf("/", url.indexOf("//") + 2);
  return start < 0 ? "/" : redactTokens(url.slice(start).split(/[?#]/, 1)[0]!).slice(0, 200);
}

/**
 * SQLSTATE or driver code of the database's failure; name of any error that is not ours. A refusal
 * such as a 409 is an answer, though the database gave it a code.
 */
function describeFailure(error: unknown): string | undefined {
  const status = findApiError(error)?.status;
  if (status === undefined) return error instanceof Error ? error.name : typeof error;
  return status < 500 ? undefined : findDatabaseError(error)?.code;
}

/** Version, trace, parent, flags; versions to come may add more behind a dash. */
const TRACEPARENT =
  /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(-.*)?$/;

/**
 * Gives the trace id of a request's `traceparent`, 32 hexadecimal digits, for its log line; undefined
 * where there is none or it is not well-formed.
 * @see https://www.w3.org/TR/trace-context/#traceparent-header
 */
export function readTraceId(request: Request): string | undefined {
  const found = TRACEPARENT.exec(request.headers.get("traceparent") ?? "");
  if (found === null || (found[1] === "00" && found[3] !== undefined)) return undefined;
  return found[2];
}
