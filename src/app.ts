import { type IRequest, Router } from "itty-router";
import type { Dependencies } from "./operations/dependencies.ts";
import { ApiError } from "./errors/api_error.ts";
import { countInFlight } from "./http/in_flight.ts";
import { checkHost } from "./http/host.ts";
import { checkPath, refuseUnknown } from "./http/path.ts";
import { openRateLimits, type RateLimits } from "./http/rate_limit.ts";
import { openRoom, type Room } from "./http/room.ts";
import { takeRequestId } from "./http/request_id.ts";
import { respond, respondError, respondFile, respondOptions, respondText } from "./http/respond.ts";
import type { Sending } from "./http/stream_answer.ts";
import { readTraceId } from "./http/traceparent.ts";
import { quote } from "./errors/issue.ts";
import type { Gathered } from "./operations/call.ts";
import { openHealth } from "./operations/check_health.ts";
import { openLookUps } from "./operations/batch_look_ups.ts";
import { openSending } from "./operations/batch_statements.ts";
import { CONSOLE_PATHS, readConsoleFile } from "./console_files/console_files.ts";
import { ROUTES } from "./operations/routes.ts";
import { serveRoute } from "./serve_route.ts";
import { startTrace, type Trace } from "./http/trace.ts";

export type { Dependencies };

/** Whom a request came from, as far as the runtime knows. */
export interface Connection {
  /** The address at the other end, without the port; looked at where rates are limited alone. */
  readonly peer?: string | undefined;
  /** The path as it was sent, where the URL of the request has it rewritten. */
  readonly target?: string | undefined;
  /** Ends the connection; needed where a body that breaks off would be ended as if it were whole. */
  readonly cut?: (() => void) | undefined;
}

/** The fetch handler. */
export type App = (request: Request, connection?: Connection) => Promise<Response>;

const METRICS_PATH = "/metrics";

/** Answers one method of one path. */
type Handler = (request: IRequest, trace: Trace) => Promise<Response>;

/**
 * Makes the fetch handler of the whole service: routes, one catch, one log line a request.
 * @see docs/specification/order-of-checks.md
 */
export function createApp(dependencies: Dependencies): App {
  const router = Router<IRequest, [Trace]>();
  const { config } = dependencies;
  const limits = config.rateLimit && openRateLimits(config.rateLimit);
  const { database, observe } = dependencies;
  const gathered: Gathered = {
    lookUp: openLookUps(database, observe),
    readByKey: openSending(database, observe, { operation: "query_records", write: false }),
    writeByKey: openSending(database, observe, { operation: "update_single", write: true }),
  };
  const bodies = openRoom(config.maxBodiesBytes);
  for (const [path, methods] of collectHandlers(dependencies, { limits, gathered, bodies })) {
    router.all(path, (request, trace) => dispatch(methods, request, trace));
  }
  router.all("*", (request) => {
    const { pathname } = new URL(request.url);
    throw refuseUnknown(pathname);
  });
  const inFlight = countInFlight(
    config.maxInFlight,
    (requests) => dependencies.observe({ kind: "in_flight", requests }),
  );

  const sending: Sending = {
    unsent: openRoom(config.maxUnsentBytes),
    timeoutMs: config.sendTimeoutMs,
    late() {
      const message =
        `an answer was cut off: its client took none of it for ${config.sendTimeoutMs} ms`;
      observe({ kind: "warning", message });
    },
  };

  return async function answer(request, connection = {}) {
    const requestId = takeRequestId(request);
    const { cut } = connection;
    const { corsOrigins } = config;
    const exchange = { request, requestId, corsOrigins, headers: {}, sending, cut };
    // Asked for at once: of a connection that is gone nobody can tell it any more.
    const peer = limits === undefined ? undefined : connection.peer;
    const place = inFlight.enter();
    const trace = startTrace(exchange, { peer, traceId: readTraceId(request), place });
    try {
      checkHost(request);
      checkPath(request, connection.target);
      return trace.end(await router.fetch(own(request), trace), dependencies.observe);
    } catch (error) {
      trace.fail(error, dependencies.observe);
      return trace.end(respondError(error, exchange), dependencies.observe);
    } finally {
      place.leave();
    }
  };
}

/** Our router writes its finds into the request; Bun's, before it, has put fixed ones there. */
function own(request: Request): IRequest {
  if ("params" in request) Object.defineProperty(request, "params", { value: {}, writable: true });
  return request as IRequest;
}

/** Gives the methods of each path. */
function collectHandlers(
  dependencies: Dependencies,
  kept: {
    readonly limits: RateLimits | undefined;
    readonly gathered: Gathered;
    readonly bodies: Room;
  },
): Map<string, Map<string, Handler>> {
  const paths = new Map<string, Map<string, Handler>>();
  for (const route of ROUTES) {
    const methods = paths.get(route.path) ?? new Map<string, Handler>();
    paths.set(route.path, methods);
    methods.set(
      route.method,
      (request, trace) => serveRoute(route, request, { trace, dependencies, ...kept }),
    );
  }
  const checkHealth = openHealth(dependencies);
  for (const path of ["/livez", "/readyz"] as const) {
    const check: Handler = async (_request, trace) => {
      trace.operation = path.slice(1);
      return respond({ status: 200, json: await checkHealth(path) }, trace.exchange);
    };
    paths.set(path, new Map([["GET", check]]));
  }
  for (const path of dependencies.config.console ? CONSOLE_PATHS : []) {
    const show: Handler = async (_request, trace) => {
      trace.operation = "console";
      return respondFile(await readConsoleFile(path, dependencies.observe), trace.exchange);
    };
    paths.set(path, new Map([["GET", show]]));
  }
  const { metrics } = dependencies;
  const print: Handler = async (_request, trace) => {
    trace.operation = "metrics";
    return respondText(await metrics.print(), metrics.type, trace.exchange);
  };
  paths.set(METRICS_PATH, new Map([["GET", print]]));
  return paths;
}

/** `HEAD` is a `GET` whose body is not sent; `OPTIONS` needs no token. @see H6, H7 */
function dispatch(
  methods: ReadonlyMap<string, Handler>,
  request: IRequest,
  trace: Trace,
): Response | Promise<Response> {
  const handler = methods.get(request.method === "HEAD" ? "GET" : request.method);
  if (handler !== undefined) return handler(request, trace);
  const allowed = [...methods.keys(), ...(methods.has("GET") ? ["HEAD"] : []), "OPTIONS"];
  if (request.method === "OPTIONS") return respondOptions(allowed, trace.exchange);
  const message = `The method ${quote(request.method)} is not allowed here, expected ${
    allowed.join(", ")
  }`;
  throw new ApiError(405, message, { headers: { Allow: allowed.join(", ") } });
}
