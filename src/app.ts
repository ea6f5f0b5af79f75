import { type IRequest, Router } from "itty-router";
import type { CurrentCatalogue } from "./catalogue/current_catalogue.ts";
import { type Changes, openChanges } from "./feeds/changes/changes.ts";
import type { Config } from "./server/config/config.ts";
import { CONSOLE_PATHS, readConsoleFile } from "./console/files/console_files.ts";
import { openCursors } from "./feeds/cursors/cursors.ts";
import { ApiError } from "./basics/errors/api_error.ts";
import { quote } from "./basics/errors/issue.ts";
import { openByteBudget } from "./http/byte_budget.ts";
import { openHealth } from "./http/health.ts";
import { limitInFlight } from "./http/in_flight.ts";
import { openRateLimits, type RateLimits } from "./http/rate_limit.ts";
import {
  type Exchange,
  respond,
  respondError,
  respondFile,
  respondOptions,
  respondText,
} from "./http/respond.ts";
import type { Sending } from "./http/response_body.ts";
import { checkHost, checkPath, rejectUnknownPath } from "./http/target.ts";
import { refuseMethodOverride } from "./http/write_terms.ts";
import { readTraceId, startTrace, takeRequestId, type Trace } from "./http/trace.ts";
import type { Database } from "./database/postgres/database.ts";
import { openPlacesForExports, openRecords, type RecordsOptions } from "./records/records.ts";
import { openReading, type Reading, type ReadingOptions } from "./database/replicas/reading.ts";
import type { Replicas } from "./database/replicas/replicas.ts";
import type { Metrics } from "./server/telemetry/metrics.ts";
import type { Observe } from "./server/telemetry/observe.ts";
import type { TokenStore } from "./access/tokens/token.ts";
import type { Webhooks } from "./feeds/webhooks/webhooks.ts";
import { handleRequest, type Service } from "./operations/handle_request.ts";
import { describeInterface } from "./describe/interface/describe_interface.ts";
import { printLlms } from "./describe/interface/print_llms.ts";
import { handleMcp, MCP_PATH } from "./mcp/handle_mcp.ts";
import { OPERATIONS } from "./operations/operations.ts";

/** What a service is made of; the command and the tests open it. */
export interface Dependencies {
  readonly config: Config;
  readonly database: Database;
  readonly catalogue: CurrentCatalogue;
  readonly tokens: TokenStore;
  readonly observe: Observe;
  readonly metrics: Metrics;
  /** The feeds, where the caller closes them; left out, they are never closed. */
  readonly changes?: Changes;
  /** Left out: webhooks are off. */
  readonly webhooks?: Webhooks | undefined;
  /** Left out: there are no standbys. */
  readonly replicas?: Replicas | undefined;
  /** Left out: this process counts by itself, with the limit of the configuration. */
  readonly rateLimits?: RateLimits | undefined;
  /** Aborted when the server is about to stop: load balancers should send no more. */
  readonly stopping?: AbortSignal;
}

/** The connection of a request, as far as the runtime knows it. */
export interface Connection {
  /** The address at the other end, without the port; read only where rates are limited. */
  readonly peer?: string | undefined;
  /** The path as it was sent, where the URL of the request may have been rewritten. */
  readonly target?: string | undefined;
  /**
   * The version of HTTP, such as `1.1`. Left out: a request that closes its connection may have come from
   * a proxy that speaks 1.0.
   */
  readonly httpVersion?: string | undefined;
  /**
   * Closes the connection; needed where the runtime would end a broken response as if it were
   * complete.
   */
  readonly cut?: (() => void) | undefined;
  /**
   * Frees bytes of a body that the runtime has taken, or returns true: their memory may be used again.
   * Left out where garbage collection is as good.
   */
  readonly free?: ((bytes: Uint8Array<ArrayBuffer>) => boolean) | undefined;
}

/** The fetch handler. */
export type App = (request: Request, connection?: Connection) => Promise<Response>;

const METRICS_PATH = "/metrics";
/** Programs that read `/llms.txt` expect plain text. */
const PLAIN = "text/plain; charset=utf-8";

/** Responds to one method of one path. */
type Handler = (request: IRequest, trace: Trace) => Promise<Response>;

/** The handlers of each path, by method. */
type Handlers = Map<string, Map<string, Handler>>;

/**
 * Makes the fetch handler of the whole service: it checks host and path, routes, and responds to what
 * is thrown; each request ends in one observation. handle_request.ts has the rest of the way.
 * @see docs/specification/order-of-checks.md
 */
export function createApp(dependencies: Dependencies): App {
  const { config, database, observe, stopping } = dependencies;
  const { tenantSetting } = config;
  const cursors = openCursors(database);
  const { exports, exportsPerTenant } = config;
  const places = openPlacesForExports({ exports, exportsPerTenant, observe });
  const inFlight = limitInFlight(
    config.maxInFlight,
    (requests) => observe({ kind: "in_flight", requests }),
  );
  const options = { observe, tenantSetting, exports, cursors, places, others: inFlight };
  const records = openRecords(database, options);
  const service: Service = {
    ...dependencies,
    records,
    reading: openStandbys(dependencies.replicas, { cursors, records, options }),
    changes: dependencies.changes ?? openChanges(database, { observe, tenantSetting }),
    webhooks: dependencies.webhooks,
    rateLimits: dependencies.rateLimits ??
      (config.rateLimit && openRateLimits(config.rateLimit)),
    bodies: openByteBudget(config.maxBodiesBytes),
  };
  const router = makeRouter([
    ...collectOperations(service),
    ...collectAgents(service, observe),
    ...collectPages(dependencies),
  ]);
  const sending = openSending(dependencies);

  return async function serve(request, connection = {}) {
    const { corsOrigins } = config;
    const exchange: Exchange = {
      request,
      requestId: takeRequestId(request),
      corsOrigins,
      headers: {},
      sending,
      stopping,
      httpVersion: connection.httpVersion,
      cut: connection.cut,
      free: connection.free,
    };
    // Read now, because a closed connection no longer has it.
    const peer = service.rateLimits === undefined ? undefined : connection.peer;
    const place = inFlight.enter();
    const trace = startTrace(exchange, { peer, traceId: readTraceId(request), place });
    try {
      checkHost(request);
      checkPath(request, connection.target);
      return trace.end(await router.fetch(ownParams(request), trace), observe);
    } catch (error) {
      trace.reportError(error, observe);
      return trace.end(respondError(error, exchange), observe);
    } finally {
      place.leave();
    }
  };
}

function openStandbys(
  replicas: Replicas | undefined,
  { options, ...primary }: Pick<ReadingOptions, "cursors" | "records"> & {
    readonly options: RecordsOptions;
  },
): Reading | undefined {
  if (replicas === undefined) return undefined;
  return openReading({
    ...primary,
    replicas,
    openRecords: ({ database }) => openRecords(database, options),
  });
}

function openSending({ config, observe }: Dependencies): Sending {
  return {
    unsent: openByteBudget(config.maxUnsentBytes),
    timeoutMs: config.sendTimeoutMs,
    late() {
      const message =
        `a response was cut off: its client read none of it for ${config.sendTimeoutMs} ms`;
      observe({ kind: "warning", message });
    },
  };
}

/** Lets the router write its params into the request, where Bun has put fixed ones. */
function ownParams(request: Request): IRequest {
  if ("params" in request) Object.defineProperty(request, "params", { value: {}, writable: true });
  return request as IRequest;
}

function makeRouter(handlers: readonly (readonly [string, ReadonlyMap<string, Handler>])[]) {
  const router = Router<IRequest, [Trace]>();
  for (const [path, methods] of handlers) {
    router.all(path, (request, trace) => dispatch(methods, request, trace));
  }
  router.all("*", (request) => {
    const { pathname } = new URL(request.url);
    throw rejectUnknownPath(pathname);
  });
  return router;
}

/** `HEAD` is a `GET` whose body is not sent; `OPTIONS` needs no token. @see H6, H7, H32 */
function dispatch(
  methods: ReadonlyMap<string, Handler>,
  request: IRequest,
  trace: Trace,
): Response | Promise<Response> {
  const handler = methods.get(request.method === "HEAD" ? "GET" : request.method);
  if (handler !== undefined) {
    refuseMethodOverride(request);
    return handler(request, trace);
  }
  const allowed = [...methods.keys(), ...(methods.has("GET") ? ["HEAD"] : []), "OPTIONS"];
  if (request.method === "OPTIONS") return respondOptions(allowed, trace.exchange);
  const message = `The method ${quote(request.method)} is not allowed here, expected ${
    allowed.join(", ")
  }`;
  throw new ApiError(405, message, { headers: { Allow: allowed.join(", ") } });
}

function collectOperations(service: Service): Handlers {
  const paths: Handlers = new Map();
  for (const operation of [...OPERATIONS, describeInterface]) {
    const methods = paths.get(operation.path) ?? new Map<string, Handler>();
    paths.set(operation.path, methods);
    methods.set(operation.method, ({ params }, trace) => {
      const { table: tableName = "", id = "" } = params;
      return handleRequest({ operation, tableName, id, trace }, service);
    });
  }
  return paths;
}

/** Returns the path of agents, unless it is off. @see MC16 */
function collectAgents(service: Service, observe: Observe): Handlers {
  if (!service.config.mcp) return new Map();
  const handler: Handler = (_request, trace) => handleMcp(trace, { service, observe });
  return new Map([[MCP_PATH, new Map([["POST", handler]])]]);
}

/** Returns what is served without a token: probes, metrics, and the console. */
function collectPages(dependencies: Dependencies): Handlers {
  const paths: Handlers = new Map();
  const checkHealth = openHealth(dependencies);
  for (const path of ["/livez", "/readyz"] as const) {
    const check: Handler = async (_request, trace) => {
      trace.operation = path.slice(1);
      return respond({ status: 200, json: await checkHealth(path) }, trace.exchange);
    };
    paths.set(path, new Map([["GET", check]]));
  }
  const forModels = printLlms(dependencies.config);
  const describe: Handler = (_request, trace) => {
    trace.operation = "llms";
    return Promise.resolve(respondText(forModels, PLAIN, trace.exchange));
  };
  paths.set("/llms.txt", new Map([["GET", describe]]));
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
