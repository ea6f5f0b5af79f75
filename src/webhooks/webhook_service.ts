import type { Catalogue } from "../catalogue/catalogue.ts";
import type { Changes } from "../changes/changes.ts";
import type { Config } from "../config/config.ts";
import type { Database } from "../postgres/database.ts";
import type { Observe } from "../telemetry/observe.ts";
import { openFeedSource } from "./feed_source.ts";
import { type Delivering, keepDelivering } from "./keep_delivering.ts";
import type { Fetch } from "./post.ts";
import { openWebhooks, type Webhooks } from "./webhooks.ts";

/** Time that the statements after an attempt have when a service is closed. */
const SETTLE_MS = 300;

/** The webhooks of a service. */
export interface WebhookService {
  /** For the operations on them; undefined: they are off. */
  readonly webhooks: Webhooks | undefined;
  /** Begins to deliver: the database is ready. */
  readonly start: () => void;
  /** Ends deliveries, which may take so long. */
  readonly close: (timeoutMs: number) => Promise<void>;
}

/** What webhooks are made of. */
export interface WebhookServiceOptions {
  readonly config: Config;
  readonly database: Database;
  readonly catalogue: () => Catalogue | Promise<Catalogue>;
  readonly changes: Changes;
  readonly observe: Observe;
  /** In place of the runtime's; for tests, whose receivers have certificates of their own. */
  readonly fetch?: Fetch | undefined;
}

/**
 * Opens the webhooks of a service. Where the operator allows no host, there are none, and nothing is
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
