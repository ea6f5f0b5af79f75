import { ApiError } from "../basics/errors/api_error.ts";
import type { CurrentCatalogue } from "../catalogue/current_catalogue.ts";
import { resolveTable } from "../catalogue/resolve.ts";
import { type GetCatalogue, retryOnFreshCatalogue } from "../catalogue/retry_on_fresh_catalogue.ts";
import type { Changes } from "../feeds/changes/changes.ts";
import type { Config } from "../server/config/config.ts";
import { authenticate, findAccess, noteAccess } from "../http/authenticate.ts";
import { type Body, openBody, refuseBody } from "../http/body.ts";
import type { ByteBudget } from "../http/byte_budget.ts";
import { readIdempotencyKey } from "../http/idempotency_key.ts";
import { readIfMatch } from "../http/if_match.ts";
import { readPageToken } from "../http/page_link.ts";
import {
  applyPreferences,
  noteApplied,
  type PreferenceKind,
  type Preferences,
  wantsWideNumbersAsText,
} from "../http/preferences.ts";
import type { RateLimits } from "../http/rate_limit.ts";
import { openExportSource } from "../http/export_source.ts";
import { type Exchange, respondEvents, respondExport, respondJson } from "../http/respond.ts";
import type { Trace } from "../http/trace.ts";
import { rejectUnseenEnd } from "../http/unseen_end.ts";
import { refuseDroppedTerms } from "../http/write_terms.ts";
import type { Records } from "../records/records.ts";
import { POSITION_HEADER, type Reading } from "../database/replicas/reading.ts";
import { redactTokens } from "../basics/text/redact.ts";
import type { Observe } from "../server/telemetry/observe.ts";
import {
  AccessChangedError,
  type CurrentAccess,
  holdAccess,
} from "../access/tokens/current_access.ts";
import type { Access, TokenStore } from "../access/tokens/token.ts";
import type { Webhooks } from "../feeds/webhooks/webhooks.ts";
import { readIdempotency } from "./idempotency.ts";
import {
  isWrite,
  type Operation,
  type RecordsOperation,
  type Responding,
  takeJson,
} from "./operation.ts";

/** What all requests of a service share. */
export interface Service {
  readonly config: Config;
  readonly tokens: TokenStore;
  readonly observe: Observe;
  readonly catalogue: CurrentCatalogue;
  readonly records: Records;
  readonly changes: Changes;
  /** Undefined: there are no standbys. */
  readonly reading: Reading | undefined;
  /** Undefined: there is no rate limit. */
  readonly rateLimits: RateLimits | undefined;
  /** Undefined: webhooks are off. */
  readonly webhooks: Webhooks | undefined;
  /** Memory for the bodies of all requests. */
  readonly bodies: ByteBudget;
}

/** A request whose path and method name an operation. */
export interface RoutedRequest {
  readonly operation: Operation;
  /** The table in the path; empty where the path has none. */
  readonly tableName: string;
  /** The id in the path; empty where the path has none. */
  readonly id: string;
  readonly trace: Trace;
}

/** A request whose token has been accepted. */
interface Call extends RoutedRequest {
  readonly current: CurrentAccess;
  /** Returns the text of the body. It may arrive slowly, so the token is looked up again behind it. */
  readonly readBody: () => Promise<string>;
}

/**
 * Takes a request from its token to its response. Each step is one call, in the order of checks, and
 * the first that fails decides the response. app.ts has already routed the request, and responds to
 * what is thrown. The steps in the comments are those of the specification, which has their statuses.
 * @throws {ApiError} with a status of the step that failed
 * @throws {DatabaseError} whose status `records/database_status.ts` knows
 * @see docs/specification/order-of-checks.md
 */
export async function handleRequest(routed: RoutedRequest, service: Service): Promise<Response> {
  const { tableName, trace } = routed;
  const { exchange } = trace;
  const { headers } = exchange.request;
  const operation = routed.operation.otherForm?.(headers) ?? routed.operation;
  trace.operation = operation.name;
  const isPublic = "describe" in operation && !headers.has("authorization");
  if (isPublic && operation.describePublicly) {
    return await respondJson(operation.describePublicly(), exchange, operation);
  }

  const access = await authenticate(trace, service); // step 2
  if (tableName !== "") trace.table = redactTokens(tableName).slice(0, 100);
  const writes = isWrite(operation) && "perform" in operation;
  const body = openBody(exchange, access.tenant, { ...service, writes });
  try {
    try {
      return await respondTo(operation, { routed, access, body }, service);
    } catch (error) {
      if (!(error instanceof AccessChangedError)) throw error;
      const { access } = error;
      noteAccess(trace, access);
      return await respondTo(operation, { routed, access, body }, service);
    }
  } finally {
    body.release();
  }
}

/**
 * Responds as an access allows it.
 * @throws {AccessChangedError} the token allows something else now, and nothing was written
 */
async function respondTo(
  operation: Operation,
  { routed, access, body }: {
    readonly routed: RoutedRequest;
    readonly access: Access;
    readonly body: Body;
  },
  service: Service,
): Promise<Response> {
  const { trace, tableName } = routed;
  const { request } = trace.exchange;
  const current = holdAccess(access, () => findAccess(request, service.tokens));
  async function readBody(): Promise<string> {
    const text = await body.read();
    await current.check();
    return text;
  }
  const call = { ...routed, current, readBody };
  const printed = await retryOnFreshCatalogue(
    (catalogue) => perform(operation, call, { catalogue, service }), // steps 3 to 8
    { source: service.catalogue, table: tableName },
  );
  if (printed.rows !== undefined) trace.rows = printed.rows;
  return await makeResponse(printed, operation, { trace, service, current });
}

/** What an attempt needs besides the request. */
interface Attempt {
  readonly catalogue: GetCatalogue;
  readonly service: Service;
}

/** Performs an operation of any form, on the current catalogue. */
async function perform(
  operation: Operation,
  call: Call,
  attempt: Attempt,
): Promise<Responding> {
  const { tableName, id, trace, current } = call;
  const { catalogue, service: { changes, config, webhooks } } = attempt;
  const { exchange } = trace;
  const { access } = current;
  if ("describe" in operation) {
    return { json: operation.describe({ catalogue: await catalogue(), access }) };
  }
  if ("manage" in operation) {
    const admitted = operation.admit({ access, webhooks }); // step 6
    readTerms(operation, "manage", exchange);
    return await operation.manage(admitted, { // steps 7 and 8
      access,
      id,
      catalogue,
      readBody: call.readBody,
      refuseBody: () => refuseBody(exchange.request),
    });
  }

  const needed = "describeTable" in operation
    ? { operation: "fields" as const }
    : { operation: operation.scope, also: operation.alsoScope };
  const table = resolveTable(await catalogue(), tableName, { access, ...needed }); // steps 3 to 6
  if ("describeTable" in operation) return { json: operation.describeTable(table) };
  if ("follow" in operation) {
    const { place, startedMs } = trace;
    const context = { table, current, exchange, place, startedMs, config };
    return await operation.follow(context, changes); // steps 7 and 8
  }
  return await performOnRecords(operation, call, attempt);
}

/**
 * Reads the preferences of a request, and refuses whatever else a write would have to drop: step 7,
 * before the body.
 */
function readTerms(operation: Operation, kind: PreferenceKind, exchange: Exchange): Preferences {
  const obeysIfMatch = "obeysIfMatch" in operation && operation.obeysIfMatch === true;
  if (isWrite(operation)) refuseDroppedTerms(exchange.request, { obeying: kind, obeysIfMatch });
  const preferences = applyPreferences(exchange, kind);
  const isLimited = preferences.maxAffected !== undefined;
  if ("needsMaxAffected" in operation && operation.needsMaxAffected && !isLimited) {
    const message =
      "Prefer: max-affected is missing, expected max-affected=N, the most rows that " +
      "may be deleted";
    throw new ApiError(400, message);
  }
  return preferences;
}

/** Performs an operation on the records of a table, which the token may use: steps 7 and 8. */
async function performOnRecords(
  operation: RecordsOperation,
  { tableName, trace: { exchange }, current, readBody }: Call,
  { catalogue, service }: Attempt,
): Promise<Responding> {
  const { config, reading } = service;
  const { access } = current;
  const { request, requestId } = exchange;
  const isQuery = operation.scope === "query";
  const kind = operation.preferences ?? operation.scope;
  const preferences = readTerms(operation, kind, exchange);
  if (kind === "export" && !preferences.countAtEnd) rejectUnseenEnd(exchange);
  if (!isQuery) readIdempotencyKey(request);
  const ifMatch = isQuery ? undefined : readIfMatch(request);
  const records = isQuery && reading !== undefined
    ? await reading.recordsFor(access, request)
    : service.records;
  const reads = operation.method !== "GET";
  if (!reads) refuseBody(request);
  const text = reads ? await readBody() : "";
  // Resolved again, because the catalogue may have changed while the body arrived.
  const needed = { operation: operation.scope, also: operation.alsoScope };
  const table = resolveTable(await catalogue(), tableName, { access, ...needed });
  const parsed = await operation.parse(text, { table, config, url: request.url });
  const kept = { operation, table, access, exchange, preferences, config };
  const plan = operation.plan(parsed, {
    table,
    access,
    preferences,
    wideNumbersAsText: wantsWideNumbersAsText(request.headers.get("accept")),
    after: readPageToken(request),
    ifMatch,
    idempotency: await readIdempotency(text, kept),
    requestId,
    config,
  });

  const endWrite = isQuery ? undefined : reading?.beginWrite(access);
  const result = await operation.perform(plan, records, { // step 8
    client: request,
    document: parsed.document,
    replayed() {
      exchange.headers["idempotent-replayed"] = "true";
      service.observe({ kind: "replayed" });
    },
  });
  const position = await endWrite?.();
  if (position !== undefined) exchange.headers[POSITION_HEADER] = position;
  const printed = operation.print(result, plan, parsed);
  // What was read for long is given out only if the token still allows it; an export looks by itself.
  if (isQuery && !("exported" in printed)) await current.check();
  return printed;
}

/** Makes the response from the printed result of an operation. */
async function makeResponse(
  printed: Responding,
  { cacheable }: Operation,
  { trace, service, current }: {
    readonly trace: Trace;
    readonly service: Service;
    readonly current: CurrentAccess;
  },
): Promise<Response> {
  const { exchange } = trace;
  if ("events" in printed) return respondEvents(printed.events, exchange, current);
  if ("exported" in printed) {
    const source = openExportSource(printed.exported, { trace, current, observe: service.observe });
    return respondExport(source, exchange, printed);
  }
  const { applied, link, unordered, status, etag } = printed;
  if (applied !== undefined) noteApplied(exchange, applied);
  if (link !== undefined) exchange.headers["link"] = link;
  if (unordered) exchange.headers["rowgate-order"] = "unstable";
  // What a write returns is not for caches, whatever version it has.
  const isRead = exchange.request.method === "GET" || exchange.request.method === "HEAD";
  if (etag !== undefined && !isRead) exchange.headers["etag"] = etag;
  const version = isRead ? etag : undefined;
  return await respondJson(takeJson(printed), exchange, { cacheable, status, etag: version });
}
