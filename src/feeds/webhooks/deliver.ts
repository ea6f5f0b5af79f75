import type { Catalogue, Table } from "../../catalogue/catalogue.ts";
import { resolveTable } from "../../catalogue/resolve.ts";
import type { HostRule } from "../../server/config/webhook_hosts.ts";
import { ApiError } from "../../basics/errors/api_error.ts";
import type { Database } from "../../database/postgres/database.ts";
import type { Observe } from "../../server/telemetry/observe.ts";
import type { Access } from "../../access/tokens/token.ts";
import type { ChangeSource } from "./change_source.ts";
import {
  acknowledge,
  findHolder,
  giveUp,
  keepMessage,
  type LeasedWebhook,
  type Message,
  postpone,
  release,
} from "./leases.ts";
import { makeMessage, makeReset } from "./message.ts";
import { type Fetch, type Outcome, postMessage } from "./post.ts";
import { MAX_ATTEMPTS, planRetry } from "./schedule.ts";
import { findUrlProblem } from "./webhook_url.ts";

/** Messages that a webhook is sent before it lets another one have its turn. */
const MAX_IN_A_ROW = 10;
/**
 * An idle webhook is due again after this time, even if no change woke it. So its positions in the
 * feeds never expire.
 */
const IDLE_SECONDS = 300;
/**
 * Time until the next attempt after a failure of the service itself: the database, or the catalogue.
 */
const FAULT_SECONDS = 10;

/** What deliveries need. */
export interface DeliverOptions {
  readonly database: Database;
  readonly catalogue: () => Catalogue | Promise<Catalogue>;
  readonly source: ChangeSource;
  readonly hosts: readonly HostRule[];
  readonly observe: Observe;
  readonly fetch: Fetch;
  /** True once no further message may be started. */
  readonly isClosing: () => boolean;
  /** Ends the current attempt. */
  readonly stopping: AbortSignal;
  readonly random: () => number;
  readonly postTimeoutMs?: number | undefined;
}

/**
 * Delivers the messages of a leased webhook, one after another, until nothing has changed, an attempt
 * fails, or it is another webhook's turn. If it rejects, the lease simply expires.
 * @see WH2, WH3, WH13
 */
export async function deliverWebhook(
  webhook: LeasedWebhook,
  options: DeliverOptions,
): Promise<void> {
  try {
    await deliverMessages(webhook, options);
  } catch (error) {
    await release(options.database, webhook, { seconds: FAULT_SECONDS }).catch(() => {});
    throw error;
  }
}

async function deliverMessages(webhook: LeasedWebhook, options: DeliverOptions): Promise<void> {
  const { database } = options;
  const positions = new Map(webhook.positions);
  let { message, failedAttempts: failed } = webhook;
  let last: string | undefined;
  for (let sent = 0; sent < MAX_IN_A_ROW && !options.isClosing(); sent++) {
    const holder = await findHolder(database, webhook);
    const obstacle = findObstacle(webhook, holder, options);
    if (obstacle !== undefined) return await end(webhook, { reason: obstacle, failed }, options);
    const tables = await resolveTables(webhook, holder!, options);
    if (tables instanceof ApiError) {
      return await fail(webhook, { error: describeMissing(tables), failed }, options);
    }
    if (message !== undefined && !await isOfView(message, { access: holder!, tables }, options)) {
      message = undefined;
    }
    if (message === undefined) {
      const sought = { access: holder!, tables: rotate(tables, last), positions };
      const found = await findMessage(sought, options);
      if (found === undefined) {
        return await release(database, webhook, { seconds: IDLE_SECONDS, positions });
      }
      if ("error" in found) return await fail(webhook, { error: found.error, failed }, options);
      message = found;
      if (!await keepMessage(database, webhook, message)) return;
    }
    const outcome = await attempt(webhook, { message, failed }, options);
    if (outcome.kind === "stopped") return await release(database, webhook, { seconds: 0 });
    if (outcome.kind === "gone") {
      const reason = "the receiver answered 410 Gone";
      return await end(webhook, { reason, error: outcome.error, failed: failed + 1 }, options);
    }
    if (outcome.kind === "failed") {
      return await fail(webhook, { ...outcome, failed }, options);
    }
    if (!await acknowledge(database, webhook, message)) return;
    positions.set(message.table, message.cursor);
    last = message.table;
    message = undefined;
    failed = 0;
  }
  await release(database, webhook, { seconds: 0 });
}

/** Returns why a webhook can never be delivered again as it is; undefined if it can. @see WH7, WH22 */
function findObstacle(
  { url, tenant }: LeasedWebhook,
  holder: Access | undefined,
  { hosts }: DeliverOptions,
): string | undefined {
  if (holder === undefined) return "its token has expired or was revoked";
  if (holder.tenant !== tenant) return "its token belongs to another tenant now";
  if (!holder.scopes.includes("webhooks")) return "its token may no longer use webhooks";
  if (findUrlProblem(url, hosts) === undefined) return undefined;
  return "its host may no longer be called";
}

/**
 * Resolves the webhook's tables as its token may see them now; returns the error of the first that it
 * may not see.
 */
async function resolveTables(
  { tables }: LeasedWebhook,
  access: Access,
  { catalogue }: DeliverOptions,
): Promise<readonly Table[] | ApiError> {
  const current = await catalogue();
  try {
    return tables.map((name) => resolveTable(current, name, { access, operation: "query" }));
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
}

/**
 * Reports whether a pending message has only what the token sees of its table now. Otherwise it is made
 * again.
 * @see WH28
 */
async function isOfView(
  { table: name, cursor }: Message,
  { access, tables }: Omit<Sought, "positions">,
  { source }: DeliverOptions,
): Promise<boolean> {
  const table = tables.find((each) => each.name === name);
  return table !== undefined && await source.isOfView({ access, table, cursor });
}

interface Sought {
  readonly access: Access;
  readonly tables: readonly Table[];
  /** New positions of tables in which nothing has changed. */
  readonly positions: Map<string, string>;
}

/** Makes the next message, for the first table that has changed; undefined if none has. */
async function findMessage(
  { access, tables, positions }: Sought,
  { source }: DeliverOptions,
): Promise<Message | { readonly error: string } | undefined> {
  for (const table of tables) {
    const start = { access, table, cursor: positions.get(table.name) ?? "", nowMs: Date.now() };
    try {
      const next = await makeMessage(source, start);
      if (next.message !== undefined) return next.message;
      positions.set(table.name, next.cursor);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (error.status === 404) return { error: describeMissing(error) };
      // 400: the cursor was sealed with a secret that the database no longer has.
      if (error.status !== 410 && error.status !== 400) throw error;
      return makeReset({ ...start, table: table.name, cursor: await source.begin(access, table) });
    }
  }
  return undefined;
}

/**
 * Orders the tables so that those after the last one come first: a table that changes all the time
 * does not hold up the others.
 */
function rotate(tables: readonly Table[], last: string | undefined): readonly Table[] {
  const place = tables.findIndex(({ name }) => name === last) + 1;
  return [...tables.slice(place), ...tables.slice(0, place)];
}

function describeMissing({ message }: ApiError): string {
  return `cannot be read: ${message}`;
}

async function attempt(
  { id, tenant, url, secret }: LeasedWebhook,
  { message, failed }: { readonly message: Message; readonly failed: number },
  { fetch, stopping, observe, postTimeoutMs }: DeliverOptions,
): Promise<Outcome> {
  const startedMs = performance.now();
  const outcome = await postMessage({ url, secret, message }, {
    fetch,
    stopping,
    nowMs: Date.now(),
    ...(postTimeoutMs !== undefined && { timeoutMs: postTimeoutMs }),
  });
  observe({
    kind: "webhook_sent",
    webhookId: id,
    tenant,
    table: message.table,
    host: new URL(url).host,
    messageId: message.id,
    attempt: failed + 1,
    result: outcome.kind,
    error: "error" in outcome ? outcome.error : undefined,
    durationMs: Math.round(performance.now() - startedMs),
  });
  return outcome;
}

interface Failed {
  readonly error: string;
  readonly failed: number;
  readonly retryAfter?: number | undefined;
}

/** Schedules the next attempt, or disables the webhook after the last one. @see WH14, WH16 */
async function fail(
  webhook: LeasedWebhook,
  { error, failed, retryAfter }: Failed,
  options: DeliverOptions,
): Promise<void> {
  const attempts = failed + 1;
  const seconds = planRetry({ attempts, retryAfter, random: options.random() });
  if (seconds !== undefined) {
    return await postpone(options.database, webhook, { error, attempts, seconds });
  }
  const reason = `${MAX_ATTEMPTS} attempts have failed, the last one with: ${error}`;
  await end(webhook, { reason, error, failed: attempts }, options);
}

async function end(
  webhook: LeasedWebhook,
  { reason, error, failed }: {
    readonly reason: string;
    readonly error?: string;
    readonly failed: number;
  },
  { database, observe }: DeliverOptions,
): Promise<void> {
  const details = { reason, error: error ?? null, attempts: failed };
  if (!await giveUp(database, webhook, details)) return;
  observe({ kind: "webhook_disabled", webhookId: webhook.id, tenant: webhook.tenant, reason });
}
