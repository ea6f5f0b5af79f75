import type { Table } from "./catalogue/catalogue.ts";
import type { CurrentCatalogue } from "./catalogue/current_catalogue.ts";
import { resolveTable } from "./catalogue/resolve.ts";
import { retryOnFreshCatalogue } from "./catalogue/retry_on_fresh_catalogue.ts";
import type { Changes } from "./changes/changes.ts";
import type { Config } from "./config/config.ts";
import { authenticate } from "./http/authenticate.ts";
import { openBody } from "./http/body.ts";
import type { ByteBudget } from "./http/byte_budget.ts";
import { readIdempotencyKey, rejectIdempotencyKey } from "./http/idempotency_key.ts";
import { readPageToken } from "./http/page_link.ts";
import { applyPreferences, noteApplied, wantsWideNumbersAsText } from "./http/preferences.ts";
import type { RateLimits } from "./http/rate_limit.ts";
import { openExportSource } from "./http/export_source.ts";
import { respondEvents, respondExport, respondJson } from "./http/respond.ts";
import type { Trace } from "./http/trace.ts";
import type { PlannedRequest, Records } from "./records/records.ts";
import { POSITION_HEADER, type Reading } from "./replicas/reading.ts";
import { redactTokens } from "./text/redact.ts";
import type { Observe } from "./telemetry/observe.ts";
import type { TokenStore } from "./tokens/token.ts";
import type { Webhooks } from "./webhooks/webhooks.ts";
import { readIdempotency } from "./operations/idempotency.ts";
import { type Operation, type Responding, takeJson } from "./operations/operation.ts";

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
  /** Undefined: none. */
  readonly rateLimits: RateLimits | undefined;
  /** Undefined: they are off. */
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

/**
 * Takes a request from its token to its response. Each step is one call, in the order of checks, and
 * the first that fails decides the response. app.ts has already routed the request, and responds to
 * what is thrown. The steps in the comments are those of the specification, which has their statuses.
 * @throws {ApiError} with a status of the step that failed
 * @throws {DatabaseError} whose status `http/database_status.ts` knows
 * @see docs/specification/order-of-checks.md
 */
export async function handleRequest(
  { operation: routed, tableName, id, trace }: RoutedRequest,
  service: Service,
): Promise<Response> {
  const { config, reading } = service;
  const { exchange } = trace;
  const { requestId, request: { headers } } = exchange;
  const operation = routed.otherForm?.(headers) ?? routed;
  trace.operation = operation.name;
  if (
    "describe" in operation && operation.describePublicly && !headers.has("authorization")
  ) {
    return await respondJson(operation.describePublicly(), exchange, operation);
  }

  const access = await authenticate(trace, service); // step 2
  if (tableName !== "") trace.table = redactTokens(tableName).slice(0, 100);
  const body = openBody(exchange, access.tenant, service);
  const replayed = () => {
    exchange.headers["idempotent-replayed"] = "true";
    service.observe({ kind: "replayed" });
  };
  let parsed: { table: Table; request: Pick<PlannedRequest, "document"> } | undefined;
  try {
    const printed = await retryOnFreshCatalogue<Responding>(async (current) => {
      if ("describe" in operation) {
        return { json: operation.describe({ catalogue: await current(), access }) };
      }
      if ("manage" in operation) {
        const { webhooks } = service;
        const readBody = () => {
          rejectIdempotencyKey(exchange.request);
          return body.read();
        };
        const context = { access, id, catalogue: current, readBody, webhooks };
        return await operation.manage(context); // steps 6 to 8
      }
      if ("describeTable" in operation) {
        const target = { access, operation: "fields" } as const;
        const table = resolveTable(await current(), tableName, target); // steps 3 to 6
        return { json: operation.describeTable(table) };
      }

      const target = { access, operation: operation.scope };
      if ("follow" in operation) {
        const table = resolveTable(await current(), tableName, target); // steps 3 to 6
        const context = { table, access, exchange, place: trace.place, config };
        return await operation.follow(context, service.changes); // steps 7 and 8
      }
      resolveTable(await current(), tableName, target); // steps 3 to 6
      const kind = operation.preferences ?? operation.scope;
      const preferences = applyPreferences(exchange, kind); // step 7
      if (operation.scope === "update") readIdempotencyKey(exchange.request); // step 7
      const isQuery = operation.scope === "query";
      const records = reading === undefined || !isQuery
        ? service.records
        : await reading.recordsFor(access, exchange.request); // step 7
      const text = await body.read(); // step 7
      // Again, on the catalogue in force by now: a body may take seconds to arrive.
      const table = resolveTable(await current(), tableName, target);
      if (parsed?.table !== table) {
        parsed = { table, request: await operation.parse(text, { table, config }) }; // step 7
      }
      const { request } = parsed;
      const wideNumbersAsText = wantsWideNumbersAsText(headers.get("accept"));
      const after = readPageToken(exchange.request);
      const idempotency = await readIdempotency(text, {
        operation,
        table,
        access,
        exchange,
        preferences,
        config,
      });
      const context = {
        table,
        access,
        preferences,
        wideNumbersAsText,
        idempotency,
        after,
        requestId,
        config,
      };
      const plan = operation.plan(request, context); // step 7
      const { document } = request;
      const planned = { client: exchange.request, document, replayed };
      const endWrite = isQuery ? undefined : reading?.beginWrite(access);
      const result = await operation.perform(plan, records, planned); // step 8
      const position = await endWrite?.();
      if (position !== undefined) exchange.headers[POSITION_HEADER] = position;
      return operation.print(result, plan, request);
    }, { source: service.catalogue, table: tableName });

    if (printed.rows !== undefined) trace.rows = printed.rows;
    if ("events" in printed) return respondEvents(printed.events, exchange);
    if ("exported" in printed) {
      const source = openExportSource(printed.exported, { trace, ...service });
      return respondExport(source, exchange, printed);
    }
    const { applied, link, unordered, status } = printed;
    if (applied !== undefined) noteApplied(exchange, applied);
    if (link !== undefined) exchange.headers["link"] = link;
    if (unordered) exchange.headers["rowgate-order"] = "unstable";
    return await respondJson(takeJson(printed), exchange, { ...operation, status });
  } finally {
    body.release();
  }
}
