import type { DatabaseError } from "../../database/postgres/database_error.ts";
import { findDatabaseError } from "../../database/postgres/database_error.ts";
import { type DeliverOptions, deliverWebhook } from "./deliver.ts";
import { followTables, type TenantTable } from "./follow_tables.ts";
import { claimWebhooks, type LeasedWebhook } from "./leases.ts";
import { keepPolling } from "./poll.ts";
import { listWatchedTables, wakeWebhooks, type WatchedTables } from "./watched_tables.ts";

/** Deliveries at a time in one process; they mostly wait for receivers. */
const MAX_DELIVERIES = 32;
/** Deliveries of one tenant at a time, however slow its receivers are. @see WH25 */
const MAX_OF_TENANT = 4;
/** How often due webhooks are looked for: scheduled attempts, and those of an instance that crashed. */
const POLL_MS = 1000;
/** How often the list of tables with webhooks is read. */
const WATCH_MS = 5000;

/** How webhooks are delivered, and in which schema. */
export interface DeliveringOptions extends Omit<DeliverOptions, "stopping" | "isClosing"> {
  readonly schema: string;
}

/** The running delivery of webhooks. */
export interface Delivering {
  /** Looks for due webhooks now, because one was created or may be due. */
  readonly wake: () => void;
  /**
   * Claims no more webhooks. Current attempts have this long to end; later they are repeated by
   * another instance.
   */
  readonly close: (timeoutMs: number) => Promise<void>;
}

/**
 * Delivers the webhooks of a schema until it is closed, and shares the work with other instances. A
 * failure is observed, and it tries again.
 * @see docs/specification/webhooks.md
 */
export function keepDelivering({ schema, ...options }: DeliveringOptions): Delivering {
  const { database, source, observe } = options;
  const stopping = new AbortController();
  const running = new Map<LeasedWebhook, Promise<void>>();
  const followed = followTables(source, wakeWaiting);
  let watchedMs = -Infinity;
  let enabled = 0;
  let closed = false;
  const poll = keepPolling(look, POLL_MS);

  function wake(): void {
    watchedMs = -Infinity;
    poll.wake();
  }

  async function look(): Promise<void> {
    try {
      if (performance.now() - watchedMs > WATCH_MS) await watch();
      if (enabled > 0) await claim();
    } catch (error) {
      report(error);
    }
  }

  async function watch(): Promise<void> {
    const started = performance.now();
    const found = await listWatchedTables(database, schema);
    if (closed) return;
    watchedMs = started;
    enabled = found.enabled;
    observe({ kind: "webhooks", ...countsOf(found) });
    followed.follow(found.tables);
  }

  /** Wakes the webhooks that wait for a change of a table. */
  function wakeWaiting(table: TenantTable): void {
    if (closed) return;
    wakeWebhooks(database, { schema, ...table }).then(poll.wake, report);
  }

  async function claim(): Promise<void> {
    while (!closed && running.size < MAX_DELIVERIES) {
      const { limit, busyTenants } = planClaim([...running.keys()]);
      const claimed = await claimWebhooks(database, { schema, limit, busyTenants });
      for (const webhook of claimed) start(webhook);
      if (claimed.length === 0) return;
    }
  }

  function start(webhook: LeasedWebhook): void {
    const signals = { isClosing: () => closed, stopping: stopping.signal };
    const delivery = deliverWebhook(webhook, { ...options, ...signals })
      .catch(report)
      .finally(() => {
        running.delete(webhook);
        poll.wake();
      });
    running.set(webhook, delivery);
  }

  function report(error: unknown): void {
    if (closed) return;
    observe({ kind: "failure", requestId: "none", code: codeOf(error), where: "webhooks" });
  }

  async function close(timeoutMs: number): Promise<void> {
    closed = true;
    const looked = poll.close();
    followed.close();
    // A webhook that is claimed at this moment is released by its delivery, which sees `isClosing`.
    const settle = () => Promise.allSettled(running.values());
    let abort: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise((resolve) => abort = setTimeout(resolve, timeoutMs));
    await Promise.race([looked.then(settle), late]);
    clearTimeout(abort);
    stopping.abort();
    await settle();
  }

  return { wake, close };
}

/**
 * Returns how many webhooks may be claimed, and the tenants of which none may be. Even if all claimed
 * webhooks belong to one tenant, it has no more deliveries than its share.
 */
function planClaim(running: readonly LeasedWebhook[]) {
  const counts = new Map<string, number>();
  for (const { tenant } of running) counts.set(tenant, (counts.get(tenant) ?? 0) + 1);
  const busyTenants = [...counts].flatMap(([tenant, count]) =>
    count >= MAX_OF_TENANT ? [tenant] : []
  );
  const most = Math.max(0, ...[...counts.values()].filter((count) => count < MAX_OF_TENANT));
  return { limit: Math.min(MAX_OF_TENANT - most, MAX_DELIVERIES - running.length), busyTenants };
}

function countsOf({ enabled, failing, disabled }: WatchedTables) {
  return { enabled, failing, disabled };
}

function codeOf(error: unknown): string {
  const failure: DatabaseError | undefined = findDatabaseError(error);
  return failure?.code ?? "internal";
}
