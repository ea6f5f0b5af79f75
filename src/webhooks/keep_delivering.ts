import type { DatabaseError } from "../postgres/database_error.ts";
import { findDatabaseError } from "../postgres/database_error.ts";
import { type DeliverOptions, deliverWebhook } from "./deliver.ts";
import { claimWebhooks, type LeasedWebhook } from "./leases.ts";
import { listWatchedTables, wakeWebhooks, type WatchedTables } from "./watched_tables.ts";

/** Deliveries at a time in one process: they mostly wait for receivers. */
const MAX_DELIVERIES = 32;
/** Of which one tenant has at most so many, however slow its receivers are. @see WH25 */
const MAX_OF_TENANT = 4;
/** How often webhooks that are due are looked for: planned attempts, and those of an instance that crashed. */
const POLL_MS = 1000;
/** How often it is looked which tables have webhooks. */
const WATCH_MS = 5000;

/** What delivers webhooks, and where. */
export interface DeliveringOptions extends Omit<DeliverOptions, "stopping" | "isClosing"> {
  readonly schema: string;
}

/** Webhooks that are being delivered. */
export interface Delivering {
  /** A webhook was created, or should be looked at for another reason. */
  readonly wake: () => void;
  /** Takes on no more; attempts under way have this long to end, and are then repeated by others. */
  readonly close: (timeoutMs: number) => Promise<void>;
}

/**
 * Delivers the webhooks of a schema until it is closed, together with whatever other instances do the
 * same. A failure is observed, and it tries again.
 * @see docs/specification/webhooks.md
 */
export function keepDelivering({ schema, ...options }: DeliveringOptions): Delivering {
  const { database, source, observe } = options;
  const stopping = new AbortController();
  const running = new Map<LeasedWebhook, Promise<void>>();
  const watches = new Map<string, () => void>();
  let watchedMs = -Infinity;
  let enabled = 0;
  let closed = false;
  let looking = false;
  let again = false;
  /** The look that runs, or ran last. */
  let looked = Promise.resolve();
  let timer = setTimeout(startLook, 0);

  function wake(): void {
    watchedMs = -Infinity;
    lookSoon();
  }

  function lookSoon(): void {
    if (closed) return;
    if (looking) {
      again = true;
      return;
    }
    clearTimeout(timer);
    timer = setTimeout(startLook, 0);
  }

  function startLook(): void {
    looked = look();
  }

  async function look(): Promise<void> {
    looking = true;
    again = false;
    try {
      if (performance.now() - watchedMs > WATCH_MS) await watch();
      if (enabled > 0) await claim();
    } catch (error) {
      report(error);
    }
    looking = false;
    if (!closed) timer = setTimeout(startLook, again ? 0 : POLL_MS);
  }

  async function watch(): Promise<void> {
    const started = performance.now();
    const found = await listWatchedTables(database, schema);
    if (closed) return;
    watchedMs = started;
    enabled = found.enabled;
    observe({ kind: "webhooks", ...countsOf(found) });
    follow(found);
  }

  function follow({ tables }: WatchedTables): void {
    const wanted = new Map(tables.map((each) => [JSON.stringify([each.tenant, each.table]), each]));
    for (const [key, stop] of watches) {
      if (wanted.has(key)) continue;
      stop();
      watches.delete(key);
    }
    for (const [key, each] of wanted) {
      if (watches.has(key)) continue;
      watches.set(
        key,
        source.watch(each, () => {
          if (closed) return;
          wakeWebhooks(database, { schema, ...each }).then(lookSoon, report);
        }),
      );
    }
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
        lookSoon();
      });
    running.set(webhook, delivery);
  }

  function report(error: unknown): void {
    if (closed) return;
    observe({ kind: "failure", requestId: "none", code: codeOf(error), where: "webhooks" });
  }

  async function close(timeoutMs: number): Promise<void> {
    closed = true;
    clearTimeout(timer);
    for (const stop of watches.values()) stop();
    // What a look claims at this moment is released by its delivery, which sees that this is the end.
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
 * Says how many webhooks may be claimed at once, and of which tenants none: so that no tenant has more
 * deliveries than its share, even if all that are claimed are of one tenant.
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
