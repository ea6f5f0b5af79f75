import type { CurrentCatalogue } from "./catalogue/current_catalogue.ts";
import { resolveTable } from "./catalogue/resolve.ts";
import { type GetCatalogue, retryOnFreshCatalogue } from "./catalogue/retry_on_fresh_catalogue.ts";
import type { Changes } from "./changes/changes.ts";
import type { Config } from "./config/config.ts";
import { authenticate } from "./http/authenticate.ts";
import { type Body, openBody, refuseBody } from "./http/body.ts";
import type { ByteBudget } from "./http/byte_budget.ts";
import { readIdempotencyKey } from "./http/idempotency_key.ts";
import { readPageToken } from "./http/page_link.ts";
import {
  applyPreferences,
  noteApplied,
  type PreferenceKind,
  type Preferences,
  wantsWideNumbersAsText,
} from "./http/preferences.ts";
import type { RateLimits } from "./http/rate_limit.ts";
import { openExportSource } from "./http/export_source.ts";
import { type Exchange, respondEvents, respondExport, respondJson } from "./http/respond.ts";
import type { Trace } from "./http/trace.ts";
import { refuseDroppedTerms } from "./http/write_terms.ts";
import type { Records } from "./records/records.ts";
import { POSITION_HEADER, type Reading } from "./replicas/reading.ts";
import { redactTokens } from "./text/redact.ts";
import type { Observe } from "./telemetry/observe.ts";
import type { Access, TokenStore } from "./tokens/token.ts";
import type { Webhooks } from "./webhooks/webhooks.ts";
import { readIdempotency } from "./operations/idempotency.ts";
import {
  isWrite,
  type Operation,
  type RecordsOperation,
  type Responding,
  takeJson,
} from "./operations/operation.ts";

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
  readonly access: Access;
  readonly body: Body;
}

/**
 * Takes a request from its token to its response. Each step is one call, in the order of checks, and
 * the first that fails decides the response. app.ts has already routed the request, and responds to
 * what is thrown. The steps in the comments are those of the specification, which has their statuses.
 * @throws {ApiError} with a status of the step that failed
 * @throws {DatabaseError} whose status `http/database_status.ts` knows
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
  const body = openBody(exchange, access.tenant, service);
  try {
    const call = { ...routed, access, body };
    const printed = await retryOnFreshCatalogue(
      (current) => perform(operation, call, { current, service }), // steps 3 to 8
      { source: service.catalogue, table: tableName },
    );
    if (printed.rows !== undefined) trace.rows = printed.rows;
    return await makeResponse(printed, operation, { trace, service });
  } finally {
    body.release();
  }
}

/** What an attempt needs besides the request. */
interface Attempt {
  readonly current: GetCatalogue;
  readonly service: Service;
}

/** Performs an operation of any form, on the current catalogue. */
async function perform(
  operation: Operation,
  call: Call,
  attempt: Attempt,
): Promise<Responding> {
  const { tableName, id, trace, access, body } = call;
  const { current, service: { changes, config, webhooks } } = attempt;
  const { exchange } = trace;
  if ("describe" in operation) {
    return { json: operation.describe({ catalogue: await current(), access }) };
  }
  if ("manage" in operation) {
    const admitted = operation.admit({ access, webhooks }); // step 6
    readTerms(operation, "manage", exchange);
    return await operation.manage(admitted, { // steps 7 and 8
      access,
      id,
      catalogue: current,
      readBody: body.read,
      refuseBody: () => refuseBody(exchange.request),
    });
  }

  const needed = "describeTable" in operation ? "fields" : operation.scope;
  const table = resolveTable(await current(), tableName, { access, operation: needed }); // steps 3 to 6
  if ("describeTable" in operation) return { json: operation.describeTable(table) };
  if ("follow" in operation) {
    const context = { table, access, exchange, place: trace.place, config };
    return await operation.follow(context, changes); // steps 7 and 8
  }
  return await performOnRecords(operation, call, attempt);
}

/**
 * Reads the preferences of a request, and refuses whatever else a write would have to drop: step 7,
 * before the body.
 */
function readTerms(operation: Operation, kind: PreferenceKind, exchange: Exchange): Preferences {
  if (isWrite(operation)) refuseDroppedTerms(exchange.request, kind);
  return applyPreferences(exchange, kind);
}

/** Performs an operation on the records of a table, which the token may use: steps 7 and 8. */
async function performOnRecords(
  operation: RecordsOperation,
  { tableName, trace: { exchange }, access, body }: Call,
  { current, service }: Attempt,
): Promise<Responding> {
  const { config, reading } = service;
  const { request, requestId } = exchange;
  const isQuery = operation.scope === "query";
  const kind = operation.preferences ?? operation.scope;
  const preferences = readTerms(operation, kind, exchange);
  if (!isQuery) readIdempotencyKey(request);
  const records = isQuery && reading !== undefined
    ? await reading.recordsFor(access, request)
    : service.records;
  const text = await body.read();
  // Resolved again, because the catalogue may have changed while the body arrived.
  const table = resolveTable(await current(), tableName, { access, operation: operation.scope });
  const parsed = await operation.parse(text, { table, config });
  const kept = { operation, table, access, exchange, preferences, config };
  const plan = operation.plan(parsed, {
    table,
    access,
    preferences,
    wideNumbersAsText: wantsWideNumbersAsText(request.headers.get("accept")),
    after: readPageToken(request),
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
  return operation.print(result, plan, parsed);
}

/** Makes the response from the printed result of an operation. */
async function makeResponse(
  printed: Responding,
  { cacheable }: Operation,
  { trace, service }: { readonly trace: Trace; readonly service: Service },
): Promise<Response> {
  const { exchange } = trace;
  if ("events" in printed) return respondEvents(printed.events, exchange);
  if ("exported" in printed) {
    const source = openExportSource(printed.exported, { trace, ...service });
    return respondExport(source, exchange, printed);
  }
  const { applied, link, unordered, status } = printed;
  if (applied !== undefined) noteApplied(exchange, applied);
  if (link !== undefined) exchange.headers["link"] = link;
  if (unordered) exchange.headers["rowgate-order"] = "unstable";
  return await respondJson(takeJson(printed), exchange, { cacheable, status });
}
