import type { Catalogue } from "../../catalogue/catalogue.ts";
import type { Changes } from "../changes/changes.ts";
import type { Config } from "../../server/config/config.ts";
import type { Database } from "../../database/postgres/database.ts";
import type { Observe } from "../../server/telemetry/observe.ts";
import { openFeedSource } from "./feed_source.ts";
import { type Delivering, keepDelivering } from "./keep_delivering.ts";
import type { Fetch } from "./post.ts";
import { openWebhooks, type Webhooks } from "./webhooks.ts";

/** Time for the statements after an attempt when the service closes. */
const SETTLE_MS = 300;

/** The webhooks of a service. */
export interface WebhookService {
  /** The webhooks, for their operations; undefined: they are off. */
  readonly webhooks: Webhooks | undefined;
  /** Starts deliveries; called when the database is ready. */
  readonly start: () => void;
  /** Ends deliveries, within the given time. */
  readonly close: (timeoutMs: number) => Promise<void>;
}

/** What webhooks are made of. */
export interface WebhookServiceOptions {
  readonly config: Config;
  readonly database: Database;
  readonly catalogue: () => Catalogue | Promise<Catalogue>;
  readonly changes: Changes;
  readonly observe: Observe;
  /** Replaces the runtime's `fetch` in tests, whose receivers have their own certificates. */
  readonly fetch?: Fetch | undefined;
}

/**
 * Opens the webhooks of a service. If the operator allows no host, they are off and nothing is
 * delivered.
 * @see WH3
 */
export function openWebhookService(
  { config, database, catalogue, changes, observe, fetch = sendByRuntime }: WebhookServiceOptions,
): WebhookService {
  const { schemas: [schema = ""], webhookHosts: hosts } = config;
  const source = openFeedSource({ changes, catalogue });
  let delivering: Delivering | undefined;
  let closed = false;
  const wake = () => delivering?.wake();

  function start(): void {
    if (closed || hosts.length === 0 || delivering !== undefined) return;
    const options = { database, catalogue, source, hosts, observe, schema, fetch };
    delivering = keepDelivering({ ...options, random: Math.random });
  }

  async function close(timeoutMs: number): Promise<void> {
    closed = true;
    await delivering?.close(Math.max(0, timeoutMs - SETTLE_MS));
  }

  return { webhooks: openWebhooks(database, { config, source, wake }), start, close };
}

function sendByRuntime(url: string, init: RequestInit): Promise<Response> {
  return globalThis.fetch(url, init);
}
